#pragma once
// The factor of a norm of the residual stream, made from its weight after each change: the weight, or 1 + weight.

#include "device/stream.hpp"
#include "model/block_shape.hpp"
#include "tensor/arena.hpp"
#include "tensor/tensor_view.hpp"

namespace maxplus {

class NormWeight {
 public:
  // weight [C] must stay where it is; without extents where a family has no such norm.
  NormWeight(TensorView weight, BlockShape::NormScale scale, Arena& packed);

  void pack(const Stream& stream);               // after the weight has changed
  TensorView factor() const { return factor_; }  // [C]

 private:
  TensorView weight_, factor_;  // one and the same where the factor is the weight
};

}  // namespace maxplus
