#pragma once
// Layers that are not all at hand: whoever has them brings one at a time to where layer 0 of a set of weights stands.

#include <cstdint>

#include "device/stream.hpp"
#include "model/model_config.hpp"

namespace maxplus {

class LayerSupply {
 public:
  virtual ~LayerSupply() = default;
  virtual const ModelConfig& config() const = 0;  // of the whole network
  virtual void bring(const Stream& stream, std::int64_t layer) = 0;
};

}  // namespace maxplus
