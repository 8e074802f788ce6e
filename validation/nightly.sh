#!/usr/bin/env bash
# Every longer check, one after the other; each writes its results.md beside itself. Needs build/maxplus (jobscripts/setup.sh).
set -u
cd "$(dirname "$0")/.." || exit 1
failed=0
for check in "python3 validation/quickstart/run.py" "python3 validation/determinism/run.py"; do
  echo "== $check"
  $check || failed=1
done
exit $failed
