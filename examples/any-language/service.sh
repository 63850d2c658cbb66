#!/bin/sh
# A tool service with nothing but curl and a POSIX shell: register, claim, read the card, heartbeat, hand over the result.
# TOOLPLANE_TOKEN is a token of role tool for the target "shell"; TOOLPLANE_URL and TOOLPLANE_PROJECT are optional.
# It needs curl 7.76 or later. Ctrl-C or SIGTERM ends it after the call it is in. docs/guides/any-language.md walks through it.
set -u
umask 077
LC_ALL=C
export LC_ALL

: "${TOOLPLANE_TOKEN:?make one with: toolplane token create --role tool --targets shell}"
api="${TOOLPLANE_URL:-http://127.0.0.1:7420}/projects/${TOOLPLANE_PROJECT:-demo}"
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
dir=$(mktemp -d)
stopping=no
trap 'stopping=yes' TERM INT
trap 'rm -rf "$dir"' EXIT

# ---- 1. talking to the server -------------------------------------------------------------------------------------

# The token travels in a file: arguments of a program can be seen by everybody on the machine.
printf 'Authorization: Bearer %s' "$TOOLPLANE_TOKEN" > "$dir/auth"

# request PATH [CURL OPTION...]: prints the answer; fails when the server refuses or is away. A refusal is also shown to people.
request() {
  path=$1
  shift
  reply=$(curl --silent --show-error --fail-with-body --header @"$dir/auth" "$@" "$api/$path")
  curl_code=$?
  [ "$curl_code" -ne 22 ] || printf '%s: %s\n' "$path" "$reply" >&2
  printf '%s' "$reply"
  return "$curl_code"
}

# post PATH BODY [CURL OPTION...]
post() {
  post_path=$1
  body_file=$(mktemp "$dir/body.XXXXXX")
  printf '%s' "$2" > "$body_file"
  shift 2
  request "$post_path" --header 'Content-Type: application/json' --data-binary @"$body_file" "$@"
  answered=$?
  rm -f "$body_file"
  return "$answered"
}

# Without a JSON reader, two patterns do: a text field (left escaped, as JSON writes it) and a number. A quote inside a
# text is written \" in JSON, so "name":" can only be a key.
text_field() { sed -n -E 's/.*"'"$1"'":"(([^"\\]|\\.)*)".*/\1/p'; }
number_field() { sed -n -E 's/.*"'"$1"'":([0-9]+).*/\1/p'; }
has_key() { case $1 in *"\"$2\":"*) return 0 ;; *) return 1 ;; esac; }

success() { printf '"status":"success","result":%s' "$1"; }
failure() { printf '"status":"failed","error":{"code":"%s","message":"%s"}' "$1" "$2"; }

# ---- 2. the tool ----------------------------------------------------------------------------------------------------

# The card's JSON is in $card; what is printed is the outcome.
greet() {
  name=$(printf '%s' "$card" | text_field name)
  seconds=$(printf '%s' "$card" | number_field seconds)
  if [ "${seconds:-0}" -gt 0 ]; then
    # In the background, because a shell hears a signal only between its own commands.
    sleep "$seconds" & pause=$!
    trap 'kill "$pause"; exit 1' TERM
    wait "$pause"
  fi
  # The name is still escaped, so it can be put into another JSON text as it is.
  success "$(printf '{"greeting":"Hello, %s!"}' "$name")"
}

# ---- 3. one call ----------------------------------------------------------------------------------------------------

# work CALL PAYLOAD: checks the command, reads its card, runs the tool. The engine never sends what is refused here; a
# service that checks anyway cannot be tricked into running something else than what was written down.
work() {
  for key in args arguments result project_id channel_id agent_id agent_turn_id turn_epoch step_id tool_call_id trace_id; do
    if has_key "$2" "$key"; then
      failure protocol_violation "a command points to a card and carries no $key"
      return
    fi
  done
  card_id=$(printf '%s' "$2" | text_field tool_call_card_id)
  if [ -z "$card_id" ]; then
    failure bad_request 'the command names no card'
    return
  fi
  card=$(request "calls/$1/card" --retry 5 --retry-connrefused)
  if [ "$(printf '%s' "$card" | text_field card_id)" != "$card_id" ]; then
    failure not_found 'the card of this call is not there'
    return
  fi
  case $card in
    *"\"tool_call_id\":\"$1\""*) ;;
    *) card= ;;
  esac
  case $(printf '%s' "$card" | text_field type)$card in
    tool.call*'"arguments":{'*) greet ;;
    *) failure protocol_violation 'the card is not the tool.call card of this call' ;;
  esac
}

# keep_lease CALL LEASE WORKER: renews the lease as long as the worker is there. A call that was canceled or is not ours
# any more ends the worker: its result would be refused.
keep_lease() {
  waited=0
  while sleep 1; kill -0 "$3" 2> /dev/null; do
    waited=$((waited + 1))
    [ "$waited" -ge "$beat" ] || continue
    waited=0
    http=$(post "calls/$1/heartbeat" "{\"lease\":\"$2\"}" --max-time 10 --output "$dir/beat" --write-out '%{http_code}')
    # 4xx: not ours any more. No answer, or 5xx: the server is away, and will be back.
    case $http in 4??) over=yes ;; 200) over=$(sed -n 's/.*"cancel":true.*/yes/p' "$dir/beat") ;; *) over= ;; esac
    if [ -n "$over" ] && kill -0 "$3" 2> /dev/null; then
      : > "$dir/over.$1"
      kill "$3"
      return
    fi
  done
}

# run_call CALL LEASE PAYLOAD TRACEPARENT
run_call() {
  work "$1" "$3" > "$dir/outcome" & worker=$!
  keep_lease "$1" "$2" "$worker" &
  # A signal to stop ends the wait, not the worker: so wait until it is really gone. The keeper then ends by itself.
  while wait "$worker"; code=$?; kill -0 "$worker" 2> /dev/null; do :; done
  if [ -e "$dir/over.$1" ]; then
    rm -f "$dir/over.$1"
    echo "call $1 is over: nothing to report" >&2
    return
  fi
  outcome=$(cat "$dir/outcome")
  [ "$code" -eq 0 ] || outcome=$(failure tool_error "the tool ended with code $code")
  # The result gets a span of its own, a child of the command's.
  span=$(od -An -N8 -tx1 /dev/urandom | tr -d ' \n')
  child=$(printf '%s' "$4" | sed -E "s/^(..-.{32})-.{16}-/\\1-$span-/")
  # The same result twice is one result, so it may be sent again when the answer is lost.
  post "calls/$1/result" "{\"lease\":\"$2\",$outcome}" --header "traceparent: $child" --retry 10 --retry-connrefused \
    > /dev/null && echo "call $1: done" >&2
}

# ---- 4. the service -------------------------------------------------------------------------------------------------

# Heartbeats come three times in a lease, so that one may be lost; the server's leases last 15 seconds.
beat=${TOOLPLANE_BEAT_SECONDS:-4}

request tools --retry 10 --retry-connrefused --header 'Content-Type: application/yaml' \
  --data-binary @"$here/tool.yaml" > /dev/null || exit 1
echo "serving greet for target shell" >&2

while [ "$stopping" = no ]; do
  # One command at a time, and only when there is nothing else to do: what is claimed counts as started.
  claimed=$(post tool-services/shell/claim '{"max":1,"wait_seconds":5}' --max-time 30) || { sleep 1; continue; }
  call=$(printf '%s' "$claimed" | text_field CG-Tool-Call-Id)
  lease=$(printf '%s' "$claimed" | sed -n -E 's/.*"lease":\{"id":"([^"]*)".*/\1/p')
  payload=$(printf '%s' "$claimed" | sed -n -E 's/.*"payload":(.*),"lease":.*/\1/p')
  traceparent=$(printf '%s' "$claimed" | text_field traceparent)
  [ -n "$call" ] && [ -n "$lease" ] && run_call "$call" "$lease" "$payload" "$traceparent"
done
