#!/usr/bin/env bash
# The whole comparison: builds what measures ours, makes the network once, runs all cases, writes results.md.
#
#   validation/peers/run.sh PEERS_FOLDER [WORK_FOLDER] [options of compare.py]
#
# PEERS_FOLDER is what install.sh made. WORK_FOLDER (default: build-bench/peers) takes 2 GB. 24 to 30 minutes were measured on
# two cores once the programs are there; a machine that does something else meanwhile gives figures that are worth nothing.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
peers=${1:?usage: run.sh PEERS_FOLDER [WORK_FOLDER] [options of compare.py]}
shift
work=$root/build-bench/peers
if [ $# -gt 0 ] && [ "${1#-}" = "$1" ]; then work=$1; shift; fi
build=${MAXPLUS_BUILD:-$root/build-bench}
cmake -S "$root" -B "$build" -G Ninja -DMAXPLUS_BENCHMARKS=ON > /dev/null
ninja -C "$build" bench_server
mkdir -p "$work"
[ -f "$work/model/tokens.json" ] || "$peers/bin/python3" "$root/validation/peers/make_model.py" "$work/model"
compare() {
  python3 "$root/validation/peers/compare.py" --model "$work/model" --peers "$peers" \
    --server "$build/validation/performance/bench_server" --out "$work/results.jsonl" "$@"
}
# What 8 gradient slices cost: apart, since all programs at once would not fit in 24 GB.
compare --ours 1x2:1 --ours 1x2:8 --against nobody --dtype f32 --case training-4x256 --pairs 3
compare --ours 1x2:1 --ours 2x1:2 --minutes 15 "$@"
python3 "$root/validation/peers/report.py" "$work/results.jsonl" "$root/validation/peers/results.md"
