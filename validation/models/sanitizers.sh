#!/usr/bin/env bash
# Does any mutation of a model's files reach memory that is not its own, or what C++ leaves undefined?
#
#   bash validation/models/sanitizers.sh [MUTATIONS]     a format; default 3000
#
# Expectation, written before the run: none does; each file is read, or refused with a place and a reason. Builds only what is needed, with
# address and undefined-behaviour checks, in build-asan/; the inner loops of the kernels, which no file reaches, without
# them, since their compilation would take longer than all else. Writes sanitizers.md beside this file.
set -euo pipefail
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)
count=${1:-3000}
cd -- "$root"
launcher=$(command -v ccache >/dev/null && echo -DCMAKE_CXX_COMPILER_LAUNCHER=ccache || true)
env -u OMP_NUM_THREADS cmake --preset asan -DMAXPLUS_TESTS=ON "-DMAXPLUS_KERNEL_OPTIONS=-O1;-fno-sanitize=all" ${launcher:+"$launcher"} >/dev/null
cmake --build build-asan --target mutated_files
program=$(find build-asan/tests -type f -name mutated_files -print -quit)
begin=$SECONDS status=0
answer=$(ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 "$program" tests/data "$count" 2>&1) || status=$?
{
  printf '# Mutated model files under sanitizers\n\nThe expectation stands in `sanitizers.sh`; written by it.\n\n'
  printf '%s mutations a format, seeds from 1, address and undefined-behaviour sanitizers, %d s: %s.\n\n```\n%s\n```\n' \
    "$count" "$((SECONDS - begin))" "$([[ $status == 0 ]] && echo "as expected" || echo "**not as expected**, exit $status")" "$answer"
} | tee validation/models/sanitizers.md
exit "$status"
