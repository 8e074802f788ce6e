#!/usr/bin/env bash
# The four stages, one after the other: cold start, reinforcement, rejection sampling, reinforcement.
#
#   bash inputs/four_stages/run.sh [RANKS] [FOLDER]       # default: 2 ranks, runs/four_stages
#
# About three minutes on two cores. Started again, it goes on where it was. Ends with held-out accuracy stage by stage.
set -euo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
root=$(cd -- "$here/../.." && pwd)
case ${1:-} in -h | --help) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "${BASH_SOURCE[0]}"; exit 0 ;; esac
ranks=${1:-2} folder=${2:-runs/four_stages}

stage() {  # stage NAME [--set KEY=VALUE]...
  local name=$1
  shift
  printf '[four stages] %s\n' "$name" >&2
  bash "$root/jobscripts/local.sh" "$here/$name.toml" "$ranks" --out "$folder/$name" --quiet "$@" >"$folder/$name.summary"
}
newest() { printf '%s/checkpoints/%s' "$folder/$1" "$(cat "$folder/$1/checkpoints/latest")"; }

mkdir -p "$folder"
stage 1_cold_start
stage 2_reinforce --set "model.path=$(newest 1_cold_start)"
python3 "$root/tools/kept_answers.py" "$folder/2_reinforce" --from-iteration 6 --a-problem 4 >"$folder/kept.jsonl"
stage 3_imitate_kept --set "model.path=$(newest 1_cold_start)" --set "warm_start.train=$folder/kept.jsonl"
stage 4_reinforce --set "model.path=$(newest 3_imitate_kept)"
for name in 1_cold_start 2_reinforce 3_imitate_kept 4_reinforce; do
  python3 - "$folder/$name/metrics.jsonl" "$name" <<'PY'
import json
import sys
found = [row["eval_accuracy"] for row in map(json.loads, open(sys.argv[1], encoding="utf-8")) if "eval_accuracy" in row]
print(f"{sys.argv[2]:<16} held-out accuracy {found[0]:.3f}" + (f" -> {found[-1]:.3f}" if len(found) > 1 else ""))
PY
done
