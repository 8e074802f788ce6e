#include "optim/adamw.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/exact_math.hpp"
#include "ops/elementwise.hpp"
#include "ops/optimizer.hpp"

namespace maxplus {

namespace {

constexpr double kClipGuard = 1e-6;                    // as in PyTorch: scale = clip / (norm + 1e-6)
constexpr std::int64_t kChunk = 64 * ops::kNormBlock;  // 1 MiB: the copy of old weights stays in the cache

}  // namespace

AdamW::AdamW(std::span<const Parameter> parameters, const AdamWSettings& settings, Arena& arena)
    : parameters_(parameters), settings_(settings) {
  std::int64_t elements = 0, blocks = 0;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const std::int64_t size = parameters[i].weight.size();
    const std::int64_t own = (size + ops::kNormBlock - 1) / ops::kNormBlock;
    slot_.push_back({elements, size, blocks, own});
    elements += size;
    blocks += own;
    if (parameters[i].trainable) name_order_.push_back(i);
  }
  std::sort(name_order_.begin(), name_order_.end(),
            [&](std::size_t a, std::size_t b) { return parameters_[a].name < parameters_[b].name; });
  first_moment_ = arena.take(DType::f32, {elements});
  second_moment_ = arena.take(DType::f32, {elements});
  partial_ = arena.take(DType::f64, {blocks});
  before_ = arena.take(DType::f32, {kChunk});
  if (arena.counting()) return;
  host_partial_.resize(static_cast<std::size_t>(blocks));
  // An arena's memory is zero only when first handed out.
  const Stream serial(1, Stream::Waiting::sleep);
  ops::fill(serial, first_moment_, 0.0f);
  ops::fill(serial, second_moment_, 0.0f);
  serial.synchronize();
}

double AdamW::norm_from_partials(const Stream& stream) {
  ops::copy_to_host(stream, host_partial_.data(), partial_);
  stream.synchronize();
  double sum = 0;
  for (std::size_t index : name_order_) {
    const Slot& slot = slot_[index];
    for (std::int64_t b = 0; b < slot.blocks; ++b) sum += host_partial_[static_cast<std::size_t>(slot.block + b)];
  }
  return std::sqrt(sum);
}

double AdamW::gradient_norm(const Stream& stream, TensorView gradient) {
  MAXPLUS_REQUIRE(gradient.size() >= first_moment_.size(),
                  fmt::format("a gradient block of {} elements", gradient.size()));
  for (std::size_t index : name_order_) {
    const Slot& slot = slot_[index];
    ops::squared_norm_blocks(stream, partial_.rows(slot.block, slot.blocks), gradient.rows(slot.offset, slot.size));
  }
  return norm_from_partials(stream);
}

UpdateReport AdamW::step(const Stream& stream, TensorView gradient, double learning_rate) {
  UpdateReport report;
  report.gradient_norm = gradient_norm(stream, gradient);
  if (!std::isfinite(report.gradient_norm) || report.gradient_norm == 0) {
    report.skipped = true;
    return report;
  }
  ++steps_;
  const double clip = settings_.gradient_clip;
  const double scale = clip > 0 ? std::min(1.0, clip / (report.gradient_norm + kClipGuard)) : 1.0;
  for (std::size_t index : name_order_) update_parameter(stream, index, gradient, learning_rate, scale);
  report.update_norm = norm_from_partials(stream);
  return report;
}

// In chunks, so that the old weights, needed for the norm of the change, are still in the cache.
void AdamW::update_parameter(const Stream& stream, std::size_t index, TensorView gradient, double learning_rate,
                             double scale) {
  const Slot& slot = slot_[index];
  const TensorView weight = parameters_[index].weight.reshaped({slot.size});
  ops::AdamWStep values{};
  values.learning_rate = static_cast<float>(learning_rate);
  values.beta1 = static_cast<float>(settings_.beta1);
  values.beta2 = static_cast<float>(settings_.beta2);
  values.epsilon = static_cast<float>(settings_.epsilon);
  values.weight_decay = parameters_[index].decayed ? static_cast<float>(settings_.weight_decay) : 0.0f;
  values.gradient_scale = static_cast<float>(scale);
  // From the rounded betas, so that the first step's correction is exact.
  const auto step = static_cast<double>(steps_);
  const auto power = [step](float beta) { return beta > 0 ? exact_pow(static_cast<double>(beta), step) : 0.0; };
  values.correction1 = static_cast<float>(1.0 - power(values.beta1));
  values.correction2 = static_cast<float>(std::sqrt(1.0 - power(values.beta2)));
  for (std::int64_t at = 0; at < slot.size; at += kChunk) {
    const std::int64_t count = std::min(kChunk, slot.size - at);
    const TensorView now = weight.rows(at, count), before = before_.rows(0, count);
    ops::scale(stream, before, now, -1.0f);
    ops::adamw(stream, now, first_moment_.rows(slot.offset + at, count), second_moment_.rows(slot.offset + at, count),
               gradient.rows(slot.offset + at, count), values);
    ops::add(stream, before, before, now);
    const std::int64_t blocks = (count + ops::kNormBlock - 1) / ops::kNormBlock;
    ops::squared_norm_blocks(stream, partial_.rows(slot.block + at / ops::kNormBlock, blocks), before);
  }
}

}  // namespace maxplus
