#pragma once
// The final norm of the rows that heads ask for.
//
// T tokens, C width, R chosen rows. Only rows that are asked for are normalised. The heads of a network share them:
// whoever asks for the rows that stand already gets them as they are, and in backward the heads' gradients meet here.

#include <cstdint>
#include <span>
#include <vector>

#include "device/stream.hpp"
#include "model/norm_weight.hpp"
#include "model/transformer.hpp"
#include "model/weight_layout.hpp"
#include "tensor/arena.hpp"

namespace maxplus {

class ChosenRows {
 public:
  ChosenRows(const ModelConfig& config, const WeightViews& weights, Transformer::Use use,
             const TransformerLimits& limits, Arena& packed, Arena& activations);

  void pack(const Stream& stream);
  void forget() { standing_ = false; }  // the hidden states have changed
  // normed [R, C] of rows of x [T, C].
  TensorView take(const Stream& stream, TensorView x, std::span<const std::int32_t> rows);
  // Whether these are the rows that were taken last.
  bool hold(std::span<const std::int32_t> rows) const;

  std::int64_t count() const { return static_cast<std::int64_t>(rows_.size()); }
  TensorView normed() const { return normed_.rows(0, count()); }
  TensorView d_normed() const { return d_normed_.rows(0, count()); }  // the heads write here
  // From d_normed: d_x [T, C] overwritten (0 in rows that were not asked for), the gradient of the norm [C] added to.
  void backward(const Stream& stream, TensorView d_x, TensorView d_norm_weight) const;

 private:
  float epsilon_;
  NormWeight norm_;
  TensorView row_;                    // i32 [R]
  TensorView hidden_, rms_, normed_;  // [R, C], [R], [R, C]
  TensorView d_normed_, d_hidden_;    // [R, C]; training only
  std::vector<std::int32_t> rows_;
  bool standing_ = false;
};

}  // namespace maxplus
