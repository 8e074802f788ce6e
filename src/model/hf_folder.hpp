#pragma once
// A model as a folder in the published (Hugging Face) layout: config.json, generation_config.json, model.safetensors
// (or several such files and their index).

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "io/rank_group.hpp"
#include "io/safetensors.hpp"
#include "io/safetensors_export.hpp"
#include "model/model_config.hpp"
#include "model/transformer.hpp"
#include "model/weight_source.hpp"

namespace maxplus {

// Throws Error(ExitCode::no_input) when the folder or its config.json is missing, ExitCode::data when it cannot be
// used.
ModelConfig read_hf_config(const std::filesystem::path& folder);

// Tensors of model.safetensors, or of the files that model.safetensors.index.json names; F32, F16, BF16 and F64 can be
// read.
std::vector<SafetensorsFile> open_hf_files(const std::filesystem::path& folder);
std::unique_ptr<WeightSource> open_hf_weights(const std::filesystem::path& folder);
std::unique_ptr<WeightSource> open_safetensors_weights(const std::filesystem::path& file);

// Strict, as load_weights.
void load_hf_weights(const std::filesystem::path& folder, WeightSet& weights);

// The files beside the weights: config.json, generation_config.json, and what travels along (tokenizer, template).
struct HfContents {
  std::map<std::string, std::string> files;  // name to text
};
// config.json and generation_config.json of a network that no published folder describes.
HfContents published_contents(const ModelConfig& config);
// A published config.json whose weights are now stored in `dtype`; the same text if they were before.
std::string config_with_dtype(const std::string& config, DType dtype);

// Where the weights go: model.safetensors, or several files when they grow large. The values of `weights` do not
// matter.
ExportPlan plan_hf_weights(const WeightSet& weights, ExportOptions options);

// Collective. Creates the folder. Each file is written under a temporary name and renamed, the weights last.
void write_hf_folder(const std::filesystem::path& folder, const HfContents& contents, const ExportPlan& plan,
                     const RankGroup& group, const ExportValues& values);
// Alone, in f32, with published_contents.
void write_hf_folder(const std::filesystem::path& folder, const WeightSet& weights);

}  // namespace maxplus
