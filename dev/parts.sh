# Sourced by .ci/run and dev/all: runs a check in parts, each whatever became of those before it, and says what became of them.

# The README's command stays the README's command; these only make its output fit for a log.
# A failed test does not stop the modules that need its own; the reports have the verdict.
export MAVEN_ARGS="${MAVEN_ARGS:-} --batch-mode --no-transfer-progress --fail-at-end -Dmaven.test.failure.ignore=true"
# The collector with the fewest threads, unless the caller has options of its own.
export MAVEN_OPTS="${MAVEN_OPTS:--XX:+UseSerialGC}"

readonly LINES_OF_FAST=300

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
counts=$scratch/counts
summary=()
failed=0

# part NAME BUILD_FOLDER COMMAND...
part() {
  local name=$1 folder=$2 from=$SECONDS verdict=ok lines said
  shift 2
  echo "== $name: $* =="
  touch "$scratch/began"
  "$@" 2>&1 | tee "$scratch/log"
  [ "${PIPESTATUS[0]}" -eq 0 ] || verdict=FAILED
  said=$(dev/results.py "$scratch/began" "$folder" "$scratch/log" "$@") || verdict=FAILED
  lines=$(wc -l <"$scratch/log")
  if [[ $name == fast* ]] && [ $verdict = ok ] && [ "$lines" -ge $LINES_OF_FAST ]; then
    verdict=FAILED
    said+=$'\n'"      a green run of this tier prints less than $LINES_OF_FAST lines"
  fi
  head -n 1 <<<"$said" >>"$counts"
  summary+=("$(printf '%-7s %s: %s, %d s, %d lines' $verdict "$name" "$(head -n 1 <<<"$said")" $((SECONDS - from)) "$lines")")
  [ $verdict = ok ] || failed=1
  said=$(tail -n +2 <<<"$said")
  [ -z "$said" ] || summary+=("$said")
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
