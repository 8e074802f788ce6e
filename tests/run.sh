#!/usr/bin/env bash
# Sets up with the test packages, builds everything with warnings as errors, and runs all tests, part by part.
#
#   bash tests/run.sh [PART]...
#
# Parts: style, unit (every test_* program, kernels twice), ranks (tests under mpirun), and one for each script in
# tests/parts/. A part prints a line a test: `ok NAME`, `not ok NAME: why` or `skip NAME: why`, everything else is for
# the reader. Scripts in tests/parts/ find the program in MAXPLUS, the build folder in MAXPLUS_BUILD, the project in
# MAXPLUS_ROOT and an empty folder in PART_TMP; a line `# limit_s: 300` in their head sets how long they may take.
#
# The last line is `N passed, N failed, N skipped`; the exit code is 1 if anything failed. A part that fails, crashes or
# runs past its limit does not stop the others. The full output of each part lies in <build folder>/test-logs/.
#
# MAXPLUS_BUILD     build folder (default build/)
# MAXPLUS_TARGETS   build only these targets (default: everything)
set -uo pipefail

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
MAXPLUS_BUILD=$(realpath -m -- "${MAXPLUS_BUILD:-$root/build}")
export MAXPLUS_BUILD MAXPLUS_ROOT=$root MAXPLUS=$MAXPLUS_BUILD/maxplus
case ${1:-} in -h | --help) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "${BASH_SOURCE[0]}"; exit 0 ;; esac
# shellcheck source=jobscripts/mpi_environment.sh
source "$root/jobscripts/mpi_environment.sh"
export OMP_NUM_THREADS=1

say() { printf '[tests %5ds] %s\n' "$SECONDS" "$*"; }

known=(style unit ranks)
for script in "$root"/tests/parts/*.sh; do
  [[ ! -f $script ]] || known+=("$(basename -- "$script" .sh)")
done
parts=("$@")
((${#parts[@]})) || parts=("${known[@]}")
for part in "${parts[@]}"; do
  if [[ " ${known[*]} " != *" $part "* ]]; then
    printf 'tests: error: unknown part "%s"\n  expected: %s\n  try: bash tests/run.sh %s\n' "$part" "${known[*]}" "${known[0]}" >&2
    exit 64
  fi
done

rows=() passed=0 failed=0 skipped=0
logs=$MAXPLUS_BUILD/test-logs
mkdir -p -- "$logs" || exit 73
scratch=$(mktemp -d) || exit 73
current=""
trap 'rm -rf -- "$scratch"' EXIT
trap '[[ -z $current ]] || { kill -TERM "$current"; sleep 1; end_session "$current"; } 2>/dev/null; exit 130' INT TERM HUP

# Kills what is left of a session: what a part started and left behind, ranks of an mpirun included.
end_session() {
  local entry line
  local -a fields
  for entry in /proc/[0-9]*; do
    { read -r line <"$entry/stat"; } 2>/dev/null || continue
    read -ra fields <<<"${line##*) }"  # state, parent, group, session; the name before them may hold blanks
    [[ ${fields[3]:-} != "$1" ]] || kill -KILL "${entry#/proc/}" 2>/dev/null
  done
}

count() { grep -c -- "$1" "$2" || true; }

# Adds a part's lines to the sums and to the table.
settle() {  # settle PART SECONDS FILE
  local ok bad skip
  ok=$(count '^ok ' "$3") bad=$(count '^not ok ' "$3") skip=$(count '^skip ' "$3")
  passed=$((passed + ok)) failed=$((failed + bad)) skipped=$((skipped + skip))
  rows+=("$(printf '%-20s %8d %8d %8d %9d' "$1" "$ok" "$bad" "$skip" "$2")")
  grep -E '^(not ok|skip) ' "$3" | cut -c 1-400 || true
  say "$1: $ok passed, $bad failed, $skip skipped, $2 s"
}

command_of() {  # the words of a part's command, in the array `command`
  case $1 in
    style) command=(python3 "$root/tests/style/check.py" "$root") ;;
    unit) command=(python3 "$root/tests/support/gtest_part.py" "$MAXPLUS_BUILD" serial) ;;
    ranks) command=(python3 "$root/tests/support/gtest_part.py" "$MAXPLUS_BUILD" ranks) ;;
    *) command=(bash "$root/tests/parts/$1.sh") ;;
  esac
}

limit_of() {
  local limit=""
  if [[ -f $root/tests/parts/$1.sh ]]; then
    limit=$(sed -n 's/^# limit_s: *\([0-9]*\).*/\1/p' "$root/tests/parts/$1.sh" | head -n 1)
  fi
  echo "${limit:-600}"
}

# The output goes to a file, not to a pipe: a process that a part leaves behind cannot keep us waiting.
run_part() {
  local part=$1 file=$logs/$1.txt start=$SECONDS next=$((SECONDS + 10)) status=0 limit
  local -a command
  command_of "$part"
  limit=$(limit_of "$part")
  say "$part: at most $limit s"
  mkdir -p -- "$scratch/$part"
  (cd -- "$root" && PART_TMP=$scratch/$part exec setsid timeout -k 10 "$limit" "${command[@]}") \
    >"$file" 2>"$logs/$part.err.txt" </dev/null &
  current=$!
  while kill -0 "$current" 2>/dev/null; do
    sleep 0.2
    if ((SECONDS >= next)); then
      next=$((SECONDS + 10))
      say "$part: $(count '^ok ' "$file") passed, $(count '^not ok ' "$file") failed; $(tail -n 1 -- "$file" | cut -c 1-90)"
    fi
  done
  wait "$current" || status=$?
  end_session "$current"
  current=""
  if ((status == 124 || status == 137)); then
    printf 'not ok %s: ran past its limit of %s s\n' "$part" "$limit" >>"$file"
  elif ((status)) && ! grep -q '^not ok ' "$file"; then
    printf 'not ok %s: ended with exit code %s\n' "$part" "$status" >>"$file"
  elif ! grep -qE '^(ok|not ok|skip) ' "$file"; then
    printf 'not ok %s: reported no test\n' "$part" >>"$file"
  fi
  settle "$part" $((SECONDS - start)) "$file"
  if grep -q '^not ok ' "$file" && [[ -s $logs/$part.err.txt ]]; then
    say "$part: the last lines of $logs/$part.err.txt:"
    tail -n 20 -- "$logs/$part.err.txt" | cut -c 1-300
  fi
}

# Part zero. What was built before an error is tested all the same.
set_up() {
  local start=$SECONDS file=$logs/setup.txt name=setup
  local -a options=(--tests --keep-going -DMAXPLUS_WERROR=ON) target
  for target in ${MAXPLUS_TARGETS:-}; do
    options+=(--target "$target")
  done
  [[ ${parts[*]} != style ]] || options=(--tests --packages-only)
  if bash "$root/jobscripts/setup.sh" "${options[@]}"; then
    printf 'ok %s\n' "$name" >"$file"
  else
    printf 'not ok %s: ended with exit code %s\n' "$name" "$?" >"$file"
  fi
  settle "$name" $((SECONDS - start)) "$file"
}

set_up
for part in "${parts[@]}"; do
  run_part "$part"
done

printf '\n%-20s %8s %8s %8s %9s\n' part passed failed skipped seconds
printf '%s\n' "${rows[@]}"
printf '%-20s %8d %8d %8d %9d\n\n' total "$passed" "$failed" "$skipped" "$SECONDS"
printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
((failed == 0))
