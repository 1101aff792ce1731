# Sourced by .ci/run and dev/all: runs a check in parts, each whatever became of those before it, and says what became of them.

# The README's command stays the README's command; these only make its output fit for a log.
# A failed test does not stop the modules that need its own; the reports have the verdict.
export MAVEN_ARGS="${MAVEN_ARGS:-} --batch-mode --no-transfer-progress --fail-at-end -Dmaven.test.failure.ignore=true"
# The collector with the fewest threads, and a young generation that a compilation does not fill again and again, unless the caller has set options.
export MAVEN_OPTS="${MAVEN_OPTS:--XX:+UseSerialGC -XX:NewRatio=1 -XX:InitialRAMPercentage=10}"

readonly LINES_OF_FAST=300
# What takes longer hangs.
readonly SECONDS_OF_A_PART=3600

# Where there is no timeout(1), there is no limit.
limit=()
! command -v timeout >/dev/null || limit=(timeout -k 60 $SECONDS_OF_A_PART)
scratch=$(mktemp -d)
counts=$scratch/counts
running=
group=
summary=()
failed=0

# end_part: ends what a part has started, if we are ended before it: its process group, and by force what stays of that.
end_part() {
  local left=15
  [ -n "$running" ] || return 0
  # a second Ctrl-C must not end this in the middle
  trap '' HUP INT TERM
  kill -- "-$running" 2>/dev/null
  while [ $left -gt 0 ] && kill -0 -- "-$running" 2>/dev/null; do
    sleep 1
    left=$((left - 1))
  done
  kill -KILL -- "-$running" 2>/dev/null
  running=
}
trap 'end_part; rm -rf "$scratch"' EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# limited COMMAND...: runs it in a process group of its own, for as long as a part may take.
limited() {
  local code
  set -m
  ${limit[@]+"${limit[@]}"} "$@" </dev/null &
  group=$!
  running=$group
  set +m
  wait "$group"
  code=$?
  running=
  return $code
}

# servers_of GROUP: prints the processes of our servers in a process group, each with its command. They have their own folder, or at least
# their log is there.
servers_of() {
  local pid command place
  for pid in $(pgrep -g "$1" 2>/dev/null); do
    command=$(ps -o args= -p "$pid")
    place=$(readlink "/proc/$pid/cwd" "/proc/$pid/fd/1" 2>/dev/null)
    [[ "$command $place" != *holdfast-server* ]] || echo "$pid $command"
  done
}

# end_servers_of GROUP: ends our servers that a part has left, and prints them. What is ending just now has five seconds for it.
end_servers_of() {
  local left=5 found pid command
  while found=$(servers_of "$1") && [ -n "$found" ] && [ $left -gt 0 ]; do
    sleep 1
    left=$((left - 1))
  done
  [ -z "$found" ] || while read -r pid command; do
    kill -KILL "$pid" 2>/dev/null
    echo "      a server was left, and is ended: $pid ${command:0:400}"
  done <<<"$found"
}

# part NAME BUILD_FOLDER COMMAND...
part() {
  local name=$1 folder=$2 from=$SECONDS verdict=ok lines said printer more
  shift 2
  echo "== $name: $* =="
  touch "$scratch/began"
  rm -f "$scratch/said"
  mkfifo "$scratch/said"
  tee "$scratch/log" <"$scratch/said" &
  printer=$!
  limited "$@" >"$scratch/said" 2>&1 || verdict=FAILED
  more=$(end_servers_of "$group")
  if [ $((SECONDS - from)) -ge $SECONDS_OF_A_PART ]; then
    more+=$'\n'"      it has taken longer than $((SECONDS_OF_A_PART / 60)) minutes, and was ended"
  fi
  wait "$printer"
  said=$(dev/results.py "$scratch/began" "$folder" "$scratch/log" "$@") || verdict=FAILED
  lines=$(wc -l <"$scratch/log")
  if [[ $name == fast* ]] && [ $verdict = ok ] && [ "$lines" -ge $LINES_OF_FAST ]; then
    more+=$'\n'"      a green run of this tier prints less than $LINES_OF_FAST lines"
  fi
  [ -z "$more" ] || verdict=FAILED
  head -n 1 <<<"$said" >>"$counts"
  summary+=("$(printf '%-7s %s: %s, %d s, %d lines' $verdict "$name" "$(head -n 1 <<<"$said")" $((SECONDS - from)) "$lines")")
  [ $verdict = ok ] || failed=1
  # rows of the matrix whose server is older than it should be: not what was asked for, though the tests pass
  more+=$'\n'$(tail -n +2 <<<"$said")$'\n'$(sed -n 's/^[^ ].*(older than wanted.*/      &/p' "$scratch/log")
  more=$(sed '/^ *$/d' <<<"$more")
  [ -z "$more" ] || summary+=("$more")
}

print_summary() {
  echo
  echo "== summary =="
  printf '%s\n' "${summary[@]}"
}

# Adds up the counts of the parts.
sums() {
  awk '{ tests += $1; failed += $3; skipped += $5 } END { printf "%d tests, %d failed, %d skipped", tests, failed, skipped }' "$counts"
}
