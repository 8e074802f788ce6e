#pragma once
// The policy's weights in a checkpoint, under published names; moments and reference are left aside.

#include <filesystem>
#include <memory>

#include "model/model_config.hpp"
#include "model/weight_source.hpp"

namespace maxplus {

// `config` is the checkpoint's own: the file holds numbers of elements, the configuration their extents.
std::unique_ptr<WeightSource> open_checkpoint_weights(const std::filesystem::path& file, const ModelConfig& config);

}  // namespace maxplus
