#pragma once
// A trainable tensor as the world knows it: published name, global extents, and how this rank's part is cut.
// Checkpoint, gradients, import, export and planner all read these; nothing is told twice.

#include <cstdint>
#include <string>
#include <vector>

#include "tensor/tensor_view.hpp"

namespace maxplus {

enum class Axis : std::uint8_t { none, tensor, context, data, pipeline, expert };

// Which extent of the tensor is cut along which axis of the process grid; none: every rank holds all of it.
struct Shard {
  int axis_of_tensor = -1;
  Axis along = Axis::none;
};

struct Parameter {
  std::string name;  // as in published files: "model.layers.0.self_attn.q_proj.weight"
  std::vector<std::int64_t> global_extents;
  Shard shard;
  bool trainable = true;
  bool decayed = true;  // weight decay applies: matrices and embeddings, not norms and biases
  TensorView weight;    // f32, this rank's part; contiguous
  TensorView gradient;  // f32; empty where nothing is trained

  std::int64_t global_size() const {
    std::int64_t product = 1;
    for (std::int64_t extent : global_extents) product *= extent;
    return product;
  }
};

}  // namespace maxplus
