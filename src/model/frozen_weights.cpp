#include "model/frozen_weights.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.hpp"
#include "model/families/family.hpp"
#include "model/weight_layout.hpp"
#include "ops/elementwise.hpp"
#include "ops/quantized.hpp"

namespace maxplus {

namespace {

ModelConfig with_one_layer(ModelConfig config) {
  config.layers = 1;
  if (!config.windows.empty()) config.windows.resize(1);
  return config;
}

DType type_in_store(StoredType type) {
  switch (type) {
    case StoredType::f32: return DType::f32;
    case StoredType::bf16: return DType::bf16;
    case StoredType::q8: return DType::u8;
  }
  MAXPLUS_REQUIRE(false, "unknown type of stored weights");
}

// The same memory as one dimension.
TensorView flat(TensorView view) { return TensorView(view.data(), view.dtype(), view.space(), {view.size()}); }

}  // namespace

FrozenWeights::FrozenWeights(const ModelConfig& config, StoredType type, Arena& arena)
    : config_(config), type_(type), window_(with_one_layer(config), arena) {
  std::size_t place = 0;
  for (const WeightSpec& spec : find_family(config.family, "model").weights(window_.config())) {
    const Parameter& parameter = window_.parameters()[place++];
    if (spec.layer < 0) continue;
    Part part{flat(parameter.weight), spec.extents.size() > 1, 0, parameter.global_size()};
    std::int64_t& stored = part.matrix ? layer_matrices_ : layer_vectors_;
    part.first = stored;
    stored += ops::quantized_blocks(part.count) * ops::kQuantizedBlock;
    parts_.push_back(part);
  }
  matrices_ = arena.take(type_in_store(type), {config.layers * layer_matrices_});
  scales_ = arena.take(
      DType::f32, {type == StoredType::q8 ? ops::quantized_blocks(config.layers * layer_matrices_) : std::int64_t{0}});
  vectors_ = arena.take(DType::f32, {config.layers * layer_vectors_});
  std::int64_t most = 0;
  for (const Part& part : parts_) most = std::max(most, part.count);
  check_ = arena.take(DType::f32, {most});
}

TensorView FrozenWeights::values_of(const Part& part, std::int64_t layer) const {
  const TensorView& all = part.matrix ? matrices_ : vectors_;
  const std::int64_t share = part.matrix ? layer_matrices_ : layer_vectors_;
  return part_of_block(all, layer * share + part.first, {part.count});
}

TensorView FrozenWeights::scale_of(const Part& part, std::int64_t layer) const {
  return part_of_block(scales_, (layer * layer_matrices_ + part.first) / ops::kQuantizedBlock,
                       {ops::quantized_blocks(part.count)});
}

void FrozenWeights::bring(const Stream& stream, std::int64_t layer) {
  MAXPLUS_REQUIRE(layer >= 0 && layer < config_.layers, "a layer of the network");
  for (const Part& part : parts_) {
    const TensorView values = values_of(part, layer);
    if (!part.matrix || type_ == StoredType::f32) {
      ops::copy(stream, part.window, values);
    } else if (type_ == StoredType::bf16) {
      ops::from_bf16(stream, part.window, values);
    } else {
      ops::dequantize(stream, part.window, values, scale_of(part, layer));
    }
  }
}

// From the window into the store.
void FrozenWeights::keep(const Stream& stream, const Part& part, std::int64_t layer) {
  const TensorView values = values_of(part, layer), back = check_.rows(0, part.count);
  if (!part.matrix || type_ == StoredType::f32) {
    ops::copy(stream, values, part.window);
  } else if (type_ == StoredType::bf16) {
    ops::to_bf16(stream, values, part.window);
    ops::from_bf16(stream, back, values);
  } else {
    ops::quantize(stream, values, scale_of(part, layer), part.window);
    ops::dequantize(stream, back, values, scale_of(part, layer));
  }
  if (!part.matrix) return;
  std::vector<float> before(static_cast<std::size_t>(part.count)), after(before.size());
  ops::copy_to_host(stream, before.data(), part.window);
  if (type_ != StoredType::f32) ops::copy_to_host(stream, after.data(), back);
  for (std::size_t i = 0; i < before.size(); ++i) {
    const auto x = static_cast<double>(before[i]), y = static_cast<double>(after[i]);
    squares_ += x * x;
    if (type_ != StoredType::f32) change_ += (x - y) * (x - y);
  }
}

void FrozenWeights::load(const Stream& stream, std::shared_ptr<const WeightSource> source) {
  const std::string where = source->where();
  const WeightPlan plan(config_, *source);
  const CheckedWeights checked(std::move(source), plan.weights());
  const std::vector<WeightSpec> specs = find_family(config_.family, "model").weights(config_);
  change_ = squares_ = 0;
  std::vector<float> values;
  std::size_t part = 0;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const Parameter& wanted = plan.weights().parameters()[i];
    values.resize(static_cast<std::size_t>(wanted.global_size()));
    checked.read(i, values);
    if (!std::all_of(values.begin(), values.end(), [](float x) { return std::isfinite(x); })) refuse_not_finite(where);
    if (specs[i].layer < 0) {
      const Parameter* outside = window_.find(wanted.name);
      MAXPLUS_REQUIRE(outside != nullptr, "a weight outside of layers");
      ops::copy_to_device(stream, outside->weight, values.data());
    } else {
      const Part& kept = parts_[part++ % parts_.size()];  // layers have the same weights in the same order
      MAXPLUS_REQUIRE(kept.count == wanted.global_size(), "layers of one shape");
      ops::copy_to_device(stream, kept.window, values.data());
      keep(stream, kept, specs[i].layer);
    }
  }
}

double FrozenWeights::relative_error() const { return squares_ > 0 ? std::sqrt(change_ / squares_) : 0.0; }

}  // namespace maxplus
