#!/bin/sh
# Prints the account of one more user for users.conf.
#   sh add-user.sh tool TARGET PROJECT...   a tool service: commands from its durable, leases through the gateway
#   sh add-user.sh plain TARGET PROJECT...  a service that only listens on its subject and reports, in either protocol version
#   sh add-user.sh ui PROJECT               a user interface of one project
#   sh add-user.sh observer PROJECT         looks on at one project
set -eu

refuse() {
  echo "add-user.sh: $1" >&2
  exit 2
}

# A dot or a wildcard in a name would open other subjects than the ones meant.
check() {
  case "$1" in
    "" | *[!A-Za-z0-9_-]*) refuse "a target or project is letters, digits, _ and -, not \"$1\"" ;;
  esac
}

# Two names that differ only in case, or in - and _, would have one variable for their passwords.
variable() {
  case "$1" in
    *[!a-z0-9_]*) refuse "the variable of the password of $1 could be another user's too: use names of a-z, 0-9 and _, or write the block by hand" ;;
  esac
  printf 'TOOLPLANE_NATS_%s_PASSWORD' "$(printf '%s' "$1" | tr 'a-z' 'A-Z')"
}

# The account of one user: what it imports is all there is in it.
begin() {
  user=$1
  password=$(variable "$user")
  printf '%s {\n  imports: [\n' "$user"
}

service() {
  printf '    { service: { account: TOOLPLANE, subject: "%s" } }\n' "$1"
}

stream() {
  printf '    { stream: { account: TOOLPLANE, subject: "%s" } }\n' "$1"
}

permissions() {
  printf '  ]\n  users: [{\n    user: %s\n    password: $%s\n    permissions {\n' "$user" "$password"
}

# The subjects a tool service asks on: its gateway, and with leases its durable.
asked() {
  for project in "$@"; do
    if [ "$kind" = tool ]; then
      echo "cg.v1r4.$project.*.rpc.gateway.$name.>"
      echo "\$JS.API.CONSUMER.MSG.NEXT.cg_cmd_v1r4.tool_${name}__$project"
      echo "\$JS.ACK.cg_cmd_v1r4.tool_${name}__$project.>"
    else
      for operation in get_card put_card report settle; do
        echo "cg.v1r4.$project.*.rpc.gateway.$name.$operation"
      done
      # The same for a service of the older version, which settles by a report only.
      for operation in get_card put_card report; do
        echo "cg.v1r3.$project.*.rpc.gateway.$name.$operation"
      done
    fi
  done
}

[ $# -ge 2 ] || refuse "usage: sh add-user.sh tool|plain TARGET PROJECT... | ui|observer PROJECT"
kind=$1
name=$2
shift 2
check "$name"
for project in "$@"; do check "$project"; done

case "$kind" in
  tool | plain)
    [ $# -ge 1 ] || refuse "name at least one project"
    versions=v1r4
    [ "$kind" = tool ] || versions="v1r4 v1r3"
    # The durable is named after both: names that run into each other would open another pair's durable.
    for project in "$@"; do
      case "$name.$project" in
        *__* | *_.* | *._*) refuse "target $name of project $project: neither name may have two underscores in a row, the target may not end with one, the project may not begin with one" ;;
      esac
    done
    # Inboxes are named after users: two of one name would read each other's answers.
    case "$name" in
      engine | ui_* | observer_*) refuse "the name $name is taken by another kind of user; give the target another one" ;;
    esac
    # Two owners may serve one target in their projects: user and inbox are named after both.
    begin "${name}__$1"
    asked "$@" | while read -r subject; do service "$subject"; done
    for project in "$@"; do
      for version in $versions; do stream "cg.$version.$project.*.cmd.tool.$name.>"; done
    done
    permissions
    printf '      publish {\n        allow: [\n'
    asked "$@" | while read -r subject; do printf '          "%s"\n' "$subject"; done
    printf '        ]\n      }\n      subscribe { allow: ['
    separator=""
    for project in "$@"; do
      for version in $versions; do
        printf '%s"cg.%s.%s.*.cmd.tool.%s.>"' "$separator" "$version" "$project" "$name"
        separator=", "
      done
      printf ', "_INBOX_%s__%s.>"' "$name" "$project"
    done
    printf '] }\n'
    ;;
  ui)
    [ $# -eq 0 ] || refuse "a user interface belongs to one project"
    begin "ui_$name"
    service "cg.v1r4.$name.*.cmd.sys.ui.action"
    for category in evt str; do stream "cg.v1r4.$name.*.$category.>"; done
    permissions
    printf '      publish { allow: ["cg.v1r4.%s.*.cmd.sys.ui.action"] }\n' "$name"
    printf '      subscribe { allow: ["cg.v1r4.%s.*.evt.>", "cg.v1r4.%s.*.str.>", "_INBOX_ui_%s.>"] }\n' "$name" "$name" "$name"
    ;;
  observer)
    [ $# -eq 0 ] || refuse "an observer belongs to one project"
    begin "observer_$name"
    for category in evt str; do stream "cg.v1r4.$name.*.$category.>"; done
    permissions
    printf '      publish { deny: [">"] }\n'
    printf '      subscribe { allow: ["cg.v1r4.%s.*.evt.>", "cg.v1r4.%s.*.str.>"] }\n' "$name" "$name"
    ;;
  *) refuse "a user is a tool, plain, ui or observer, not \"$kind\"" ;;
esac
printf '    }\n  }]\n}\n'
