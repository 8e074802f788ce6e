#!/usr/bin/env bash
# Installs the programs that maxplus is compared with into a folder of their own: llama.cpp (llama-cpp-python, compiled
# here with the instructions of this processor), PyTorch with transformers, and the writer of GGUF files.
#
#   validation/peers/install.sh FOLDER
#
# About 7 GB of disk (PyTorch brings its GPU libraries along, which are not used) and 10 to 25 minutes on two cores. Of
# llama.cpp only the library is compiled, at low priority. What is there already is kept. PIP may name another pip program.
set -euo pipefail
folder=${1:?usage: install.sh FOLDER}
[ -x "$folder/bin/python3" ] || python3 -m venv "$folder"
pip="${PIP:-$folder/bin/pip}"
have() { "$folder/bin/python3" -c "import $1" 2>/dev/null; }

# The package would compile tools that are not used here; it takes a library that stands beside its Python part.
install_llama() {
  local work=$folder/llama.cpp source
  rm -rf "$work" && mkdir -p "$work"
  "$pip" download --quiet --no-deps --no-binary llama-cpp-python --dest "$work" llama-cpp-python
  tar -xzf "$work"/*.tar.gz -C "$work"
  source=$(dirname "$work"/*/pyproject.toml)
  cmake -S "$source/vendor/llama.cpp" -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=ON -DGGML_NATIVE=ON \
    -DLLAMA_BUILD_COMMON=OFF -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_TOOLS=OFF -DLLAMA_BUILD_EXAMPLES=OFF > "$work/configure.log"
  nice -n 15 ninja -C "$work/build" -j "${LLAMA_JOBS:-$(nproc)}" llama
  CMAKE_ARGS=-DLLAMA_BUILD=OFF "$pip" install --quiet "$source"
  local target
  target=$("$folder/bin/python3" -c 'import sysconfig; print(sysconfig.get_path("platlib"))')/llama_cpp/lib
  mkdir -p "$target"
  cp -a "$work"/build/bin/lib*.so* "$target"
}

{ have torch && have transformers && have gguf; } || nice -n 15 "$pip" install torch transformers safetensors numpy gguf sentencepiece
have llama_cpp || install_llama
"$folder/bin/python3" - <<'PYTHON'
import importlib.metadata as metadata
for name in ("llama-cpp-python", "torch", "transformers", "gguf"):
    print(name, metadata.version(name))
PYTHON
