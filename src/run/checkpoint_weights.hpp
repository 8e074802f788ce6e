#pragma once
// The weights of one network in a checkpoint, under published names; moments and reference are left aside.

#include <filesystem>
#include <memory>

#include "model/model_config.hpp"
#include "model/weight_source.hpp"

namespace maxplus {

enum class CheckpointNetwork { policy, critic };

// `config` is the network's own: the file holds numbers of elements, the configuration their extents. A critic that
// shares the policy's network has its layers, and a head beside the policy's that each leaves to the other.
std::unique_ptr<WeightSource> open_checkpoint_weights(const std::filesystem::path& file, const ModelConfig& config,
                                                      CheckpointNetwork network);

}  // namespace maxplus
