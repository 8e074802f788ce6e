#include "model/norm_weight.hpp"

#include "ops/elementwise.hpp"

namespace maxplus {

NormWeight::NormWeight(TensorView weight, BlockShape::NormScale scale, Arena& packed)
    : weight_(weight), factor_(weight) {
  if (scale == BlockShape::NormScale::one_plus_weight && weight.rank() == 1)
    factor_ = packed.take(DType::f32, {weight.size()});
}

void NormWeight::pack(const Stream& stream) {
  if (factor_.data() == weight_.data()) return;
  ops::fill(stream, factor_, 1.0f);
  ops::add(stream, factor_, factor_, weight_);
}

}  // namespace maxplus
