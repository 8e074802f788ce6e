#pragma once
// A model as a folder in the published (Hugging Face) layout: config.json, generation_config.json, model.safetensors
// (or several such files and their index).

#include <filesystem>
#include <memory>

#include "model/model_config.hpp"
#include "model/transformer.hpp"
#include "model/weight_source.hpp"

namespace maxplus {

// Throws Error(ExitCode::no_input) when the folder or its config.json is missing, ExitCode::data when it cannot be
// used.
ModelConfig read_hf_config(const std::filesystem::path& folder);

// Tensors of model.safetensors, or of the files that model.safetensors.index.json names; F32, F16, BF16 and F64 can be
// read.
std::unique_ptr<WeightSource> open_hf_weights(const std::filesystem::path& folder);
std::unique_ptr<WeightSource> open_safetensors_weights(const std::filesystem::path& file);

// Strict, as load_weights.
void load_hf_weights(const std::filesystem::path& folder, WeightSet& weights);

// Creates the folder. Each file is written under a temporary name and renamed, the weights last.
void write_hf_folder(const std::filesystem::path& folder, const WeightSet& weights);

}  // namespace maxplus
