#!/usr/bin/env bash
# Installs what the check of the report needs into a folder of its own: playwright, which drives a browser, and
# tensorboard, which reads event files. The browser itself is Debian's: apt-get install chromium.
#
#   bash validation/report/install.sh FOLDER
set -euo pipefail
folder=${1:?usage: install.sh FOLDER}
[ -x "$folder/bin/python3" ] || python3 -m venv "$folder"
"$folder/bin/python3" -c 'import playwright, tensorboard' 2>/dev/null || nice -n 15 "$folder/bin/pip" install --quiet playwright tensorboard
command -v chromium > /dev/null || { echo "chromium is missing: apt-get install chromium" >&2; exit 1; }
"$folder/bin/python3" - <<'PYTHON'
import importlib.metadata as metadata
for name in ("playwright", "tensorboard"):
    print(name, metadata.version(name))
PYTHON
