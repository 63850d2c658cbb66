#!/bin/sh
# A tool service with nothing but curl and a POSIX shell: register, claim, read the card, heartbeat, hand over the result.
# TOOLPLANE_TOKEN is a token of role tool for the target "shell"; TOOLPLANE_URL and TOOLPLANE_PROJECT are optional.
# Ctrl-C or SIGTERM ends it after the call it is in.
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

# The token travels in a file: arguments of a program can be seen by everybody on the machine.
printf 'Authorization: Bearer %s' "$TOOLPLANE_TOKEN" > "$dir/auth"

# post PATH BODY [CURL OPTION...]: prints the answer; fails when the server refuses or is away.
post() {
  path=$1
  body_file=$(mktemp "$dir/body.XXXXXX")
  printf '%s' "$2" > "$body_file"
  shift 2
  curl --silent --show-error --fail --header @"$dir/auth" --header 'Content-Type: application/json' \
    --data-binary @"$body_file" "$@" "$api/$path"
  answered=$?
  rm -f "$body_file"
  return "$answered"
}

# Without a JSON reader, two patterns do: a text field (left escaped, as JSON writes it) and a number. A quote inside a
# text is written \" in JSON, so "name":" can only be a key.
text_field() { sed -n -E 's/.*"'"$1"'":"(([^"\\]|\\.)*)".*/\1/p'; }
number_field() { sed -n -E 's/.*"'"$1"'":([0-9]+).*/\1/p'; }

# The tool itself: the card's JSON on stdin, the result's JSON on stdout; an exit code other than 0 is a failure.
greet() {
  card=$(cat)
  name=$(printf '%s' "$card" | text_field name)
  seconds=$(printf '%s' "$card" | number_field seconds)
  sleep "${seconds:-0}" & pause=$!
  trap 'kill "$pause"; exit 1' TERM
  wait "$pause"
  # The name is still escaped, so it can be put into another JSON text as it is.
  printf '{"greeting":"Hello, %s!"}' "$name"
}

# Renews the lease while the tool runs. An answer with "cancel":true, or a refusal, means: stop, nobody wants the result.
keep_lease() {
  while :; do
    # In the background, so that the end of the call need not wait for the end of a sleep.
    sleep 4 & pause=$!
    trap 'kill "$pause"; exit' TERM
    wait "$pause"
    http=$(post "calls/$1/heartbeat" "{\"lease\":\"$2\"}" --max-time 10 --output "$dir/beat" --write-out '%{http_code}')
    # 4xx: the call is not ours any more. No answer, or 5xx: the server is away, and will be back.
    case $http in 4??) over=yes ;; 200) over=$(sed -n 's/.*"cancel":true.*/yes/p' "$dir/beat") ;; *) over= ;; esac
    if [ -n "$over" ]; then
      : > "$dir/over"
      kill "$3" 2> /dev/null
      return
    fi
  done
}

run_call() {
  call=$1 lease=$2
  rm -f "$dir/over"
  curl --silent --show-error --fail --retry 5 --retry-connrefused --header @"$dir/auth" "$api/calls/$call/card" > "$dir/card" || return
  greet < "$dir/card" > "$dir/result" & worker=$!
  keep_lease "$call" "$lease" "$worker" & keeper=$!
  # A signal to stop ends the wait, not the worker: so wait until it is really gone.
  while wait "$worker"; code=$?; kill -0 "$worker" 2> /dev/null; do :; done
  kill "$keeper" 2> /dev/null
  wait "$keeper" 2> /dev/null
  if [ -e "$dir/over" ]; then
    echo "call $call is over: nothing to report" >&2
    return
  fi
  if [ "$code" -eq 0 ]; then
    outcome="\"status\":\"success\",\"result\":$(cat "$dir/result")"
  else
    outcome="\"status\":\"failed\",\"error\":{\"code\":\"tool_error\",\"message\":\"the tool ended with code $code\"}"
  fi
  # The same result twice is one result, so it may be sent again when the answer is lost.
  post "calls/$call/result" "{\"lease\":\"$lease\",$outcome}" --retry 10 --retry-connrefused > /dev/null &&
    echo "call $call: done" >&2
}

curl --silent --show-error --fail --retry 10 --retry-connrefused --header @"$dir/auth" \
  --header 'Content-Type: application/yaml' --data-binary @"$here/tool.yaml" "$api/tools" > /dev/null || exit 1
echo "serving greet for target shell" >&2

while [ "$stopping" = no ]; do
  # One command at a time, and only when there is nothing else to do: what is claimed counts as started.
  claimed=$(post tool-services/shell/claim '{"max":1,"wait_seconds":5}' --max-time 30) || { sleep 1; continue; }
  call=$(printf '%s' "$claimed" | text_field CG-Tool-Call-Id)
  lease=$(printf '%s' "$claimed" | sed -n -E 's/.*"lease":\{"id":"([^"]*)".*/\1/p')
  [ -n "$call" ] && [ -n "$lease" ] && run_call "$call" "$lease"
done
