#!/bin/sh
# A tool host that needs nothing but a shell, so that any user of any machine can run it.
#   $1  --secret=FILE: a file that hosts must not be able to read
#   $2  where the number of a process that got away is written
answer() { printf '{"v":1,"id":"%s","ok":true,"result":{"value":%s,"state":{}}}\n' "$id" "$1"; }
succeed() { answer "{\"success\":true,\"result\":$1}"; }
can() { if "$@" >/dev/null 2>&1; then echo true; else echo false; fi; }
tool() { printf '{"name":"%s","description":"","parameters":{"type":"object"}}' "$1"; }
# Twice forked, in a session of its own: its parent is gone, and so is every tie of numbers.
get_away() { ("$@" setsid sh -c 'echo $$ >"$1.new"; mv "$1.new" "$1"; exec sleep 1000' sh "$pid_file" </dev/null >/dev/null 2>&1 &) }

secret_file=${1#--secret=} pid_file=$2
while IFS= read -r line; do
  id=${line#*\"id\":\"} id=${id%%\"*}
  case $line in
    *'"method":"hello"'*) printf '{"v":1,"id":"%s","ok":false,"error":{"type":"MethodNotFound","detail":""}}\n' "$id" ;;
    *'"method":"init"'*) answer '{}' ;;
    *'"method":"get_tool_schemas"'*) answer "[$(tool look),$(tool fork),$(tool fork_bare),$(tool hang)]" ;;
    *'"tool_name":"look"'*)
      succeed "{\"uid\":$(id -u),\"environ\":$(can cat "/proc/$PPID/environ"),\"secret\":$(can cat "$secret_file"),\"home\":$(can touch "$HOME/x"),\"tmp\":$(can touch "$TMPDIR/y"),\"cwd\":$(can ls .)}" ;;
    *'"tool_name":"fork"'*) get_away env; succeed 1 ;;
    *'"tool_name":"fork_bare"'*) get_away env -i; succeed 1 ;;
    *'"tool_name":"hang"'*) get_away env; sleep 1000 ;;
    *) printf '{"v":1,"id":"%s","ok":false,"error":{"type":"MethodNotFound","detail":""}}\n' "$id" ;;
  esac
done
