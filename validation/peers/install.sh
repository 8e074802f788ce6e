#!/usr/bin/env bash
# Installs the programs that maxplus is compared with into a folder of their own: llama.cpp (llama-cpp-python, compiled
# here with the instructions of this processor), PyTorch with transformers, and the writer of GGUF files.
#
#   validation/peers/install.sh FOLDER
#
# About 7 GB of disk (PyTorch brings its GPU libraries along, which are not used) and 10 to 25 minutes on two cores, of
# which the compilation of llama.cpp takes most; it runs on one core at the lowest priority. What is there already is
# kept. PIP may name another pip program.
set -euo pipefail
folder=${1:?usage: install.sh FOLDER}
[ -x "$folder/bin/python3" ] || python3 -m venv "$folder"
pip="${PIP:-$folder/bin/pip}"
have() { "$folder/bin/python3" -c "import $1" 2>/dev/null; }
{ have torch && have transformers && have gguf; } || nice -n 15 "$pip" install torch transformers safetensors numpy gguf
have llama_cpp || CMAKE_BUILD_PARALLEL_LEVEL=1 CMAKE_ARGS="-DGGML_NATIVE=ON" nice -n 15 "$pip" install --no-binary llama-cpp-python llama-cpp-python
"$folder/bin/python3" - <<'PYTHON'
import importlib.metadata as metadata
for name in ("llama-cpp-python", "torch", "transformers", "gguf"):
    print(name, metadata.version(name))
PYTHON
