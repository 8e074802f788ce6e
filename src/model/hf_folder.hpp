#pragma once
// A model as a folder in the published (Hugging Face) layout: config.json, generation_config.json, model.safetensors.

#include <filesystem>

#include "model/model_config.hpp"
#include "model/transformer.hpp"

namespace maxplus {

// Throws Error(ExitCode::no_input) when the folder or its config.json is missing, ExitCode::data when it cannot be
// used.
ModelConfig read_hf_config(const std::filesystem::path& folder);

// F32, F16, BF16 or F64 tensors of model.safetensors. Strict: tensors that are missing, not known or of other extents
// are all told, each in a line, and then nothing has been loaded.
void load_hf_weights(const std::filesystem::path& folder, WeightSet& weights);

// Creates the folder. Each file is written under a temporary name and renamed, the weights last.
void write_hf_folder(const std::filesystem::path& folder, const WeightSet& weights);

}  // namespace maxplus
