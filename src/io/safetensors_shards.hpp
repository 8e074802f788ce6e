#pragma once
// Weights cut over several safetensors files, with an index that says which file holds which tensor.

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "io/safetensors.hpp"

namespace maxplus {

// Files named by `weight_map` of an index (model.safetensors.index.json), each once, in the order of their names, and
// opened. The index and the files must agree: every tensor stands in exactly one file, the one that the index names.
// Throws Error(ExitCode::data) with all disagreements, Error(ExitCode::no_input) for a file that is missing.
std::vector<SafetensorsFile> open_safetensors_shards(const std::filesystem::path& index);

// The text of an index. `files`: tensor name to file name.
std::string write_safetensors_index(const std::map<std::string, std::string>& files, std::uint64_t total_bytes);

}  // namespace maxplus
