#!/usr/bin/env bash
# From a bare machine to a trained model: sets up, builds, trains inputs/quickstart/quickstart.toml and shows the report.
#
#   bash jobscripts/quickstart.sh [table.key=value]... [options of maxplus train]
#
# table.key=value   is handed on as --set table.key=value, for instance run.seed=2 or generation.temperature=0.8
#
# QUICKSTART_RANKS  ranks to start (default 2; one core is enough, it only takes longer)
# QUICKSTART_OUT    run folder (default runs/quickstart). One that holds a run is resumed; a finished one is only shown
# MAXPLUS_BUILD     build folder (default build/)
set -euo pipefail

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
export MAXPLUS_BUILD="${MAXPLUS_BUILD:-$root/build}"
MAXPLUS_BUILD=$(realpath -m -- "$MAXPLUS_BUILD")
out=$(realpath -m -- "${QUICKSTART_OUT:-$root/runs/quickstart}")
ranks=${QUICKSTART_RANKS:-2}

case ${1:-} in -h | --help) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "${BASH_SOURCE[0]}"; exit 0 ;; esac
say() { printf '[quickstart %4ds] %s\n' "$SECONDS" "$*"; }

options=()
while (($#)); do
  case $1 in
    --set)
      if (($# < 2)); then
        printf 'quickstart: error: --set without a value\n  expected: table.key=value\n  try: run.seed=2\n' >&2
        exit 64
      fi
      options+=(--set "$2"); shift ;;
    -*) options+=("$1") ;;
    *=*) options+=(--set "$1") ;;
    *) options+=("$1") ;;
  esac
  shift
done

bash "$root/jobscripts/setup.sh"

if [[ -f $out/checkpoints/latest ]]; then
  say "$out holds an earlier run ($(head -n 1 -- "$out/checkpoints/latest")): it is resumed, or only shown if it has finished"
  say "to start anew: rm -r '$out', or QUICKSTART_OUT=<another folder>"
fi

say "training on $ranks ranks into $out"
status=0
bash "$root/jobscripts/local.sh" "$root/inputs/quickstart/quickstart.toml" "$ranks" --out "$out" "${options[@]}" || status=$?
if ((status)); then
  say "training ended with exit code $status; the run's log is $out/log.txt"
  ((status != 75)) || say "it was saved: the same command goes on from there"
  exit "$status"
fi

page=$out/report/index.html
if [[ ! -f $page || $out/metrics.jsonl -nt $page ]]; then
  "$MAXPLUS_BUILD/maxplus" report "$out" --quiet
fi
say "done; the report page: $page"
