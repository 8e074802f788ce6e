#include "model/value_head.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "ops/elementwise.hpp"

namespace maxplus {

ValueHead::ValueHead(ChosenRows& chosen, const WeightViews& weights, Place place, Transformer::Use use,
                     const TransformerLimits& limits, Arena& packed, Arena& activations)
    : chosen_(chosen),
      score_(weights.score, use == Transformer::Use::training ? Linear::Packing::both : Linear::Packing::forward,
             ops::Arithmetic::f32, packed),
      most_rows_(limits.batch_tokens) {
  const bool training = use == Transformer::Use::training;
  value_ = activations.take(DType::f32, {most_rows_, 1});
  d_value_ = activations.take(DType::f32, {training ? most_rows_ : 0, 1});
  d_share_ = activations.take(DType::f32,
                              {training && place == Place::beside_tokens ? most_rows_ : 0, weights.score.extent(1)});
}

void ValueHead::pack(const Stream& stream) { score_.pack(stream); }

void ValueHead::values(const Stream& stream, TensorView x, std::span<const std::int32_t> row, std::span<float> out) {
  MAXPLUS_REQUIRE(row.size() == out.size(), "one value a target");
  forget();
  for (const std::int32_t r : row) {
    MAXPLUS_REQUIRE(rows_.empty() || r >= rows_.back(), "rows of targets ascend");
    if (rows_.empty() || r != rows_.back()) rows_.push_back(r);
    row_of_target_.push_back(static_cast<std::int32_t>(rows_.size() - 1));
  }
  if (rows_.empty()) return;
  const TensorView normed = chosen_.take(stream, x, rows_), value = value_.rows(0, chosen_.count());
  score_.forward(stream, value, normed);
  std::vector<float> of_row(rows_.size());
  ops::copy_to_host(stream, of_row.data(), value);
  stream.synchronize();
  for (std::size_t n = 0; n < out.size(); ++n) out[n] = of_row[static_cast<std::size_t>(row_of_target_[n])];
}

void ValueHead::backward(const Stream& stream, TensorView d_score, std::span<const float> d_value, Into into,
                         TensorView scratch) {
  MAXPLUS_REQUIRE(d_value.size() == row_of_target_.size(), "one gradient a target of the last values");
  MAXPLUS_REQUIRE(chosen_.hold(rows_), "both heads are asked for the same rows");
  std::vector<float> of_row(rows_.size(), 0.0f);
  for (std::size_t n = 0; n < d_value.size(); ++n) of_row[static_cast<std::size_t>(row_of_target_[n])] += d_value[n];
  const TensorView d_rows = d_value_.rows(0, chosen_.count());
  ops::copy_to_device(stream, d_rows, of_row.data());
  score_.backward_weight(stream, d_score, d_rows, chosen_.normed(), scratch);
  if (into == Into::fresh) return score_.backward_input(stream, chosen_.d_normed(), d_rows);
  const TensorView share = d_share_.rows(0, chosen_.count());
  score_.backward_input(stream, share, d_rows);
  ops::add(stream, chosen_.d_normed(), chosen_.d_normed(), share);
}

std::int64_t ValueHead::scratch_elements(const Stream& stream) const {
  return score_.scratch_elements(stream, most_rows_);
}

}  // namespace maxplus
