#include "model/chosen_rows.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.hpp"
#include "ops/elementwise.hpp"
#include "ops/embedding.hpp"
#include "ops/norm.hpp"

namespace maxplus {

ChosenRows::ChosenRows(const ModelConfig& config, const WeightViews& weights, Transformer::Use use,
                       const TransformerLimits& limits, Arena& packed, Arena& activations)
    : epsilon_(static_cast<float>(config.norm_epsilon)), norm_(weights.final_norm, config.block.norm_scale, packed) {
  const std::int64_t rows = std::max(limits.batch_tokens, limits.extend_rows);
  row_ = activations.take(DType::i32, {rows});
  hidden_ = activations.take(DType::f32, {rows, config.width});
  rms_ = activations.take(DType::f32, {rows});
  normed_ = activations.take(DType::f32, {rows, config.width});
  const bool training = use == Transformer::Use::training;
  for (TensorView* view : {&d_normed_, &d_hidden_})
    *view = activations.take(DType::f32, {training ? limits.batch_tokens : 0, config.width});
}

void ChosenRows::pack(const Stream& stream) { norm_.pack(stream); }

bool ChosenRows::hold(std::span<const std::int32_t> rows) const {
  return standing_ && std::equal(rows.begin(), rows.end(), rows_.begin(), rows_.end());
}

TensorView ChosenRows::take(const Stream& stream, TensorView x, std::span<const std::int32_t> rows) {
  if (hold(rows)) return normed();
  rows_.assign(rows.begin(), rows.end());
  standing_ = true;
  MAXPLUS_REQUIRE(count() <= row_.size(), fmt::format("{} rows, room for {}", count(), row_.size()));
  const TensorView row = row_.rows(0, count()), hidden = hidden_.rows(0, count());
  ops::copy_to_device(stream, row, rows_.data());
  ops::gather_rows(stream, hidden, x, row);
  ops::rms_norm(stream, normed(), rms_.rows(0, count()), hidden, norm_.factor(), epsilon_);
  return normed();
}

void ChosenRows::backward(const Stream& stream, TensorView d_x, TensorView d_norm_weight) const {
  const TensorView d_hidden = d_hidden_.rows(0, count());
  ops::fill(stream, d_hidden, 0.0f);  // nothing passes by the final norm
  ops::rms_norm_backward(stream, d_hidden, d_norm_weight, d_hidden, d_normed(), hidden_.rows(0, count()),
                         rms_.rows(0, count()), norm_.factor());
  ops::scatter_rows(stream, d_x, d_hidden, row_.rows(0, count()));
}

}  // namespace maxplus
