#!/usr/bin/env bash
# Every longer check but validation/peers and validation/performance, one after the other; each writes its results beside
# itself. Those of schedules that measure seconds (run, long_tail, fused, bounded, hand_off, partial, dispatch, event_graph) fail on a busy machine.
# Needs build/maxplus (jobscripts/setup.sh) and a network for the published model.
#
#   bash validation/nightly.sh [PEERS_FOLDER]      what validation/peers/install.sh made; without it four checks are left out,
#                                                  and without chromium that of the report
set -u
cd "$(dirname "$0")/.." || exit 1
peers=${1:-}
failed=0
model=inputs/smollm2/SmolLM2-135M-Instruct.Q4_1.gguf
check() {
  echo "== $*"
  "$@" || failed=1
}
check python3 validation/quickstart/run.py
check python3 validation/determinism/run.py
check python3 validation/verify/run.py
check python3 validation/algorithms/learn.py
for schedule in run long_tail fused bounded hand_off partial dispatch event_graph learning; do
  check python3 "validation/schedules/$schedule.py"
done
if command -v chromium > /dev/null; then
  browser=$(mktemp -d)
  check bash validation/report/install.sh "$browser"
  check "$browser/bin/python3" validation/report/run.py
  rm -rf "$browser"
fi
check python3 validation/verify/hostile.py
check bash validation/models/sanitizers.sh
check bash inputs/smollm2/fetch.sh
check python3 validation/smollm2/learn.py "$model"
if [ -n "$peers" ]; then
  check python3 validation/data/run.py "$peers-data"
  converter=$(find "$peers/llama.cpp" -name convert_hf_to_gguf.py | head -n 1)
  check "$peers/bin/python3" validation/models/reopen.py "$model"
  check "$peers/bin/python3" validation/models/classifier.py
  check "$peers/bin/python3" validation/models/gradients.py
  check "$peers/bin/python3" validation/models/reopen_llama.py "$converter" "$model"
fi
exit $failed
