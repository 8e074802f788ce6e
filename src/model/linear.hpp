#pragma once
// A linear map y = x W^T, its weight packed for the products that are asked of it.

#include "device/stream.hpp"
#include "ops/matmul.hpp"
#include "tensor/arena.hpp"
#include "tensor/tensor_view.hpp"

namespace maxplus {

class Linear {
 public:
  enum class Packing { forward, both };  // both: for gradients of inputs too

  // weight [outputs, inputs] must stay where it is.
  Linear(TensorView weight, Packing packing, ops::Arithmetic arithmetic, Arena& packed);

  void pack(const Stream& stream);  // after the weight has changed
  // out [M, outputs], in [M, inputs].
  void forward(const Stream& stream, TensorView out, TensorView in) const;
  void forward_add(const Stream& stream, TensorView out, TensorView residual, TensorView in) const;
  // d_in [M, inputs] overwritten.
  void backward_input(const Stream& stream, TensorView d_in, TensorView d_out) const;
  // d_weight [outputs, inputs] added to.
  void backward_weight(const Stream& stream, TensorView d_weight, TensorView d_out, TensorView in,
                       TensorView scratch) const;

  // f32 elements that backward_weight needs for up to `tokens` rows.
  std::int64_t scratch_elements(const Stream& stream, std::int64_t tokens) const;
  std::int64_t outputs() const { return weight_.extent(0); }
  std::int64_t inputs() const { return weight_.extent(1); }

 private:
  TensorView weight_, packed_, packed_transposed_;
  Packing packing_;
  ops::Arithmetic arithmetic_;
};

}  // namespace maxplus
