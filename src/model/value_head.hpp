#pragma once
// The head of a critic: from the last hidden states to one number a chosen row, and back.
//
// C width, R chosen rows, N targets. The value of a target is that of the row which predicts it: what is to be expected
// from there on. The product is in f32 whatever the network's arithmetic.

#include <cstdint>
#include <span>
#include <vector>

#include "device/stream.hpp"
#include "model/chosen_rows.hpp"
#include "model/linear.hpp"
#include "model/transformer.hpp"
#include "model/weight_layout.hpp"
#include "tensor/arena.hpp"

namespace maxplus {

class ValueHead {
 public:
  // Beside a head of tokens a gradient is added to that one's.
  enum class Place { alone, beside_tokens };

  ValueHead(ChosenRows& chosen, const WeightViews& weights, Place place, Transformer::Use use,
            const TransformerLimits& limits, Arena& packed, Arena& activations);

  void pack(const Stream& stream);
  void forget() { rows_.clear(), row_of_target_.clear(); }  // the hidden states have changed
  // out[n] of row[n] of x [T, C]. Rows ascend; one that several targets share is computed once.
  void values(const Stream& stream, TensorView x, std::span<const std::int32_t> row, std::span<float> out);
  // Of the last values, x being unchanged: chosen.d_normed() written, or added to; the gradient of score [1, C] added
  // to. Gradients of targets that share a row are added in their order.
  enum class Into { fresh, sum };
  void backward(const Stream& stream, TensorView d_score, std::span<const float> d_value, Into into,
                TensorView scratch);

  std::int64_t scratch_elements(const Stream& stream) const;  // of backward

 private:
  ChosenRows& chosen_;
  Linear score_;
  std::int64_t most_rows_;
  TensorView value_, d_value_;  // [R, 1]
  TensorView d_share_;          // [R, C], beside another head in training

  std::vector<std::int32_t> rows_, row_of_target_;  // of the last values
};

}  // namespace maxplus
