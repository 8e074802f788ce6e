#pragma once
// `inspect`: what a checkpoint, a safetensors file or a model folder holds.

#include <filesystem>
#include <string>

#include "run/command_line.hpp"

namespace maxplus {

// Tensors (name, dtype, extents, xxh3-128 of their bytes), metadata, weights_hash; a table for people or one JSON
// object. Throws Error(no_input | data). Needs no MPI.
std::string inspect(const std::filesystem::path& file, CommandLine::Output form);

}  // namespace maxplus
