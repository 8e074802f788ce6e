// The head of tokens.
#include "model/head.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.hpp"
#include "ops/activation.hpp"
#include "ops/elementwise.hpp"
#include "ops/logprob.hpp"

namespace maxplus {

namespace {

// Without a backward pass no logits are wanted twice, and larger blocks only take memory.
constexpr std::int64_t kInferenceRows = 256;

std::int64_t block_rows(const TransformerLimits& limits, Transformer::Use use) {
  const std::int64_t rows = std::min(limits.head_block, limits.batch_tokens);
  return use == Transformer::Use::training ? rows : std::min(rows, kInferenceRows);
}

}  // namespace

Head::Head(ChosenRows& chosen, const ModelConfig& config, const WeightViews& weights, Transformer::Use use,
           ops::Arithmetic arithmetic, const TransformerLimits& limits, Arena& packed, Arena& activations)
    : chosen_(chosen),
      vocabulary_(config.vocabulary),
      block_rows_(block_rows(limits, use)),
      cap_(static_cast<float>(config.logit_cap)),
      head_(weights.head, use == Transformer::Use::training ? Linear::Packing::both : Linear::Packing::forward,
            arithmetic, packed) {
  MAXPLUS_REQUIRE(limits.head_block >= 1, "a block of the head has at least one row");
  const std::int64_t targets = limits.batch_tokens > 0 ? limits.batch_tokens + limits.batch_segments : 0;
  target_row_ = activations.take(DType::i32, {targets});
  target_ = activations.take(DType::i32, {targets});
  logits_ = activations.take(DType::f32, {std::max(block_rows_, limits.extend_rows), vocabulary_});
  const bool training = use == Transformer::Use::training;
  capped_ = activations.take(DType::f32, {training && cap_ > 0 ? block_rows_ : 0, vocabulary_});
  for (TensorView* view : {&maximum_, &log_sum_, &entropy_})
    *view = activations.take(DType::f32, {limits.batch_tokens});
  log_prob_ = activations.take(DType::f32, {targets});
  for (TensorView* view : {&d_log_prob_, &d_entropy_}) *view = activations.take(DType::f32, {training ? targets : 0});
}

void Head::pack(const Stream& stream) { head_.pack(stream); }

void Head::forget() {
  rows_.clear();
  row_of_target_.clear();
  blocks_.clear();
  first_logits_stand_ = false;
}

void Head::multiply(const Stream& stream, TensorView logits, TensorView normed) const {
  head_.forward(stream, logits, normed);
  if (cap_ > 0) ops::soft_cap(stream, logits, logits, cap_);
}

TensorView Head::logits(const Stream& stream, TensorView x, std::span<const std::int32_t> rows) {
  const auto count = static_cast<std::int64_t>(rows.size());
  MAXPLUS_REQUIRE(count <= logits_.extent(0), fmt::format("logits of {} rows, room for {}", count, logits_.extent(0)));
  const TensorView normed = chosen_.take(stream, x, rows);
  first_logits_stand_ = false;
  const TensorView out = logits_.rows(0, count);
  multiply(stream, out, normed);
  return out;
}

// Chosen rows without repetition, cut into blocks, each with its targets.
void Head::plan(const HeadTargets& targets) {
  forget();
  for (std::size_t n = 0; n < targets.row.size(); ++n) {
    const std::int32_t row = targets.row[n], target = targets.target[n];
    MAXPLUS_REQUIRE(rows_.empty() || row >= rows_.back(), "rows of targets ascend");
    MAXPLUS_REQUIRE(target >= 0 && target < vocabulary_,
                    fmt::format("target {} of vocabulary {}", target, vocabulary_));
    if (rows_.empty() || row != rows_.back()) {
      if (rows_.size() % static_cast<std::size_t>(block_rows_) == 0) {
        blocks_.push_back({static_cast<std::int64_t>(rows_.size()), 0, static_cast<std::int64_t>(n), 0});
      }
      rows_.push_back(row);
      ++blocks_.back().rows;
    }
    row_of_target_.push_back(static_cast<std::int32_t>(rows_.size() - 1));
    ++blocks_.back().targets;
  }
}

void Head::score(const Stream& stream, TensorView x, const HeadTargets& targets, float inverse_temperature,
                 std::span<float> log_prob, std::span<float> entropy) {
  const std::size_t count = targets.row.size();
  MAXPLUS_REQUIRE(targets.target.size() == count && log_prob.size() == count && entropy.size() == count,
                  "a row, a token and two results a target");
  MAXPLUS_REQUIRE(static_cast<std::int64_t>(count) <= target_.size(),
                  fmt::format("{} targets, room for {}", count, target_.size()));
  plan(targets);
  inverse_temperature_ = inverse_temperature;
  if (count == 0) return;
  std::vector<std::int32_t> within_block(row_of_target_);
  for (std::int32_t& row : within_block) row %= static_cast<std::int32_t>(block_rows_);
  const auto n = static_cast<std::int64_t>(count), r = static_cast<std::int64_t>(rows_.size());
  ops::copy_to_device(stream, target_row_.rows(0, n), within_block.data());
  ops::copy_to_device(stream, target_.rows(0, n), targets.target.data());
  const TensorView normed = chosen_.take(stream, x, rows_);
  // The first block last: its logits are the first that backward wants.
  for (auto block = blocks_.rbegin(); block != blocks_.rend(); ++block) {
    const RowBlock& b = *block;
    const TensorView logits = logits_.rows(0, b.rows);
    const TensorView maximum = maximum_.rows(b.first_row, b.rows), log_sum = log_sum_.rows(b.first_row, b.rows);
    multiply(stream, logits, normed.rows(b.first_row, b.rows));
    ops::softmax_statistics(stream, maximum, log_sum, entropy_.rows(b.first_row, b.rows), logits, inverse_temperature);
    ops::gather_log_prob(stream, log_prob_.rows(b.first_target, b.targets), logits, maximum, log_sum,
                         target_row_.rows(b.first_target, b.targets), target_.rows(b.first_target, b.targets),
                         inverse_temperature);
  }
  first_logits_stand_ = true;
  ops::copy_to_host(stream, log_prob.data(), log_prob_.rows(0, n));
  std::vector<float> row_entropy(rows_.size());
  ops::copy_to_host(stream, row_entropy.data(), entropy_.rows(0, r));
  stream.synchronize();
  for (std::size_t i = 0; i < count; ++i) entropy[i] = row_entropy[static_cast<std::size_t>(row_of_target_[i])];
}

void Head::backward(const Stream& stream, TensorView d_head_weight, std::span<const float> d_log_prob,
                    std::span<const float> d_entropy, TensorView scratch) {
  MAXPLUS_REQUIRE(d_log_prob.size() == row_of_target_.size() && d_entropy.size() == row_of_target_.size(),
                  "two gradients a target of the last score");
  MAXPLUS_REQUIRE(chosen_.hold(rows_), "both heads are asked for the same rows");
  const auto n = static_cast<std::int64_t>(row_of_target_.size());
  ops::copy_to_device(stream, d_log_prob_.rows(0, n), d_log_prob.data());
  ops::copy_to_device(stream, d_entropy_.rows(0, n), d_entropy.data());
  for (const RowBlock& b : blocks_) {
    const TensorView logits = logits_.rows(0, b.rows), normed = chosen_.normed().rows(b.first_row, b.rows);
    if (!first_logits_stand_) multiply(stream, logits, normed);
    first_logits_stand_ = false;
    if (cap_ > 0) ops::copy(stream, capped_.rows(0, b.rows), logits);
    ops::log_prob_backward(stream, logits, maximum_.rows(b.first_row, b.rows), log_sum_.rows(b.first_row, b.rows),
                           entropy_.rows(b.first_row, b.rows), target_row_.rows(b.first_target, b.targets),
                           target_.rows(b.first_target, b.targets), d_log_prob_.rows(b.first_target, b.targets),
                           d_entropy_.rows(b.first_target, b.targets), inverse_temperature_);
    if (cap_ > 0) ops::soft_cap_backward(stream, logits, logits, capped_.rows(0, b.rows), cap_);
    head_.backward_weight(stream, d_head_weight, logits, normed, scratch);
    head_.backward_input(stream, chosen_.d_normed().rows(b.first_row, b.rows), logits);
  }
}

std::int64_t Head::scratch_elements(const Stream& stream) const { return head_.scratch_elements(stream, block_rows_); }

}  // namespace maxplus
