// Linear maps by kernels/ops/matmul.
#include "model/linear.hpp"

#include "base/error.hpp"

namespace maxplus {

Linear::Linear(TensorView weight, Packing packing, ops::Arithmetic arithmetic, Arena& packed)
    : weight_(weight), packing_(packing), arithmetic_(arithmetic) {
  packed_ = packed.take(ops::packed_type(arithmetic_), {ops::packed_elements(outputs(), inputs(), arithmetic_)});
  if (packing_ == Packing::both)
    packed_transposed_ =
        packed.take(ops::packed_type(arithmetic_), {ops::packed_elements(inputs(), outputs(), arithmetic_)});
}

void Linear::pack(const Stream& stream) {
  ops::pack_weight(stream, packed_, weight_, arithmetic_);
  if (packing_ == Packing::both) ops::pack_weight_transposed(stream, packed_transposed_, weight_, arithmetic_);
}

void Linear::forward(const Stream& stream, TensorView out, TensorView in) const {
  ops::matmul(stream, out, in, packed_, outputs(), arithmetic_);
}

void Linear::forward_add(const Stream& stream, TensorView out, TensorView residual, TensorView in) const {
  ops::matmul_add_residual(stream, out, residual, in, packed_, outputs(), arithmetic_);
}

void Linear::backward_input(const Stream& stream, TensorView d_in, TensorView d_out) const {
  MAXPLUS_REQUIRE(packing_ == Packing::both, "packed for gradients");
  ops::matmul(stream, d_in, d_out, packed_transposed_, inputs(), arithmetic_);
}

void Linear::backward_weight(const Stream& stream, TensorView d_weight, TensorView d_out, TensorView in,
                             TensorView scratch) const {
  ops::matmul_weight_gradient(stream, d_weight, d_out, in, scratch, arithmetic_);
}

std::int64_t Linear::scratch_elements(const Stream& stream, std::int64_t tokens) const {
  return ops::weight_gradient_scratch(stream, tokens, outputs(), inputs(), arithmetic_);
}

}  // namespace maxplus
