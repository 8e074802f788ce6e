// WeightSet: one block of weights, its published parts, a random start and a fingerprint.
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numeric>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <xxhash.h>

#include "base/exact_math.hpp"
#include "base/fingerprint.hpp"
#include "base/random.hpp"
#include "model/families/family.hpp"
#include "model/transformer.hpp"
#include "model/weight_layout.hpp"
#include "ops/elementwise.hpp"

namespace maxplus {

namespace {

bool is_bias(WeightRole role) {
  return role == WeightRole::query_bias || role == WeightRole::key_bias || role == WeightRole::value_bias;
}

// A norm of the residual stream, whose scale may be 1 + weight; those of heads are never.
bool is_width_norm(WeightRole role) {
  return role == WeightRole::attention_norm || role == WeightRole::ffn_norm || role == WeightRole::final_norm ||
         role == WeightRole::attention_output_norm || role == WeightRole::ffn_output_norm;
}

bool is_vector(WeightRole role) {
  return is_bias(role) || is_width_norm(role) || role == WeightRole::query_norm || role == WeightRole::key_norm;
}

// The value that all elements of a vector start with: biases 0, norms a scale of 1.
float initial_value(WeightRole role, const ModelConfig& config) {
  const bool one_plus = config.block.norm_scale == BlockShape::NormScale::one_plus_weight && is_width_norm(role);
  return is_bias(role) || one_plus ? 0.0f : 1.0f;
}

// Standard deviation of a matrix's random start.
double initial_deviation(const WeightSpec& spec, const ModelConfig& config) {
  if (spec.role == WeightRole::embedding) return 0.04;
  if (spec.role == WeightRole::score) return 1.0 / (static_cast<double>(config.width) + 1.0);
  const double deviation = 1.0 / std::sqrt(static_cast<double>(spec.extents.back()));
  const bool ends_block = spec.role == WeightRole::attention_output || spec.role == WeightRole::down;
  return ends_block ? deviation / std::sqrt(2.0 * static_cast<double>(config.layers)) : deviation;
}

// Elements 2i and 2i + 1: a pair of normal numbers (Box and Muller, 1958) from one draw.
std::array<double, 2> normal_pair(std::uint64_t seed, std::uint64_t name, std::uint64_t pair) {
  constexpr double kTwoPi = 6.28318530717958647693;
  const RandomBlock block = random_block(seed, Purpose::initial_weights, name, pair);
  const auto unit = [](std::uint32_t high, std::uint32_t low) {  // in (0, 1): half a step above the 52 bits
    const std::uint64_t bits = ((static_cast<std::uint64_t>(high) << 32) | low) >> 12;
    return (static_cast<double>(bits) + 0.5) * 0x1.0p-52;
  };
  const double radius = std::sqrt(-2.0 * exact_log(unit(block.word[0], block.word[1])));
  const double angle = kTwoPi * unit(block.word[2], block.word[3]);
  return {radius * exact_cos(angle), radius * exact_sin(angle)};
}

void fill_normal(std::span<float> out, double deviation, std::uint64_t seed, std::uint64_t name) {
  for (std::size_t i = 0; i < out.size(); i += 2) {
    const std::array<double, 2> pair = normal_pair(seed, name, i / 2);
    out[i] = static_cast<float>(deviation * pair[0]);
    if (i + 1 < out.size()) out[i + 1] = static_cast<float>(deviation * pair[1]);
  }
}

std::int64_t tied_elements(const ModelConfig& config) { return config.tied() ? config.vocabulary * config.width : 0; }

}  // namespace

WeightSet::WeightSet(const ModelConfig& config, Arena& weights) : config_(config) {
  all_ = weights.take(DType::f32, {parameter_count(config)});
  std::int64_t offset = 0;
  for (const WeightSpec& spec : find_family(config.family, "model").weights(config)) {
    Parameter parameter;
    parameter.name = spec.name;
    parameter.global_extents = spec.extents;
    parameter.decayed = !is_vector(spec.role);
    parameter.weight = part_of_block(all_, offset, spec.extents);
    offset += parameter.global_size();
    parameters_.push_back(std::move(parameter));
  }
  MAXPLUS_REQUIRE(offset == all_.size(), "parameter_count is the sum over the family's list");
}

const Parameter* WeightSet::find(const std::string& name) const {
  const auto found =
      std::find_if(parameters_.begin(), parameters_.end(), [&](const Parameter& p) { return p.name == name; });
  return found == parameters_.end() ? nullptr : &*found;
}

std::int64_t WeightSet::gradient_elements() const { return elements() + tied_elements(config_); }

void WeightSet::bind_gradients(TensorView gradient) {
  MAXPLUS_REQUIRE(gradient.rank() == 1 && gradient.dtype() == DType::f32 && gradient.size() == gradient_elements(),
                  fmt::format("gradient block is {}, expected f32 [{}]", describe(gradient), gradient_elements()));
  gradient_ = gradient;
  std::int64_t offset = 0;
  for (Parameter& parameter : parameters_) {
    parameter.gradient = part_of_block(gradient, offset, parameter.global_extents);
    offset += parameter.global_size();
  }
}

TensorView WeightSet::head_gradient() const {
  MAXPLUS_REQUIRE(gradient_.rank() == 1, "gradients are bound");
  if (!config_.tied()) return weight_views(config_, gradient_).head;
  return part_of_block(gradient_, elements(), {config_.vocabulary, config_.width});
}

void WeightSet::fold_tied_gradient(const Stream& stream, TensorView gradient) const {
  if (!config_.tied()) return;
  const std::int64_t count = tied_elements(config_);
  const TensorView lookup = gradient.rows(0, count);  // the embedding stands first
  ops::add(stream, lookup, lookup, gradient.rows(elements(), count));
}

void WeightSet::initialise(std::uint64_t seed) {
  std::vector<std::size_t> all(parameters_.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  initialise_these(all, seed);
}

void WeightSet::initialise_value_head(std::uint64_t seed) {
  const Parameter* score = find(kScoreWeight);
  MAXPLUS_REQUIRE(score != nullptr, "the network has a value head");
  const std::size_t place[] = {static_cast<std::size_t>(score - parameters_.data())};
  initialise_these(place, seed);
}

void WeightSet::initialise_these(std::span<const std::size_t> parameters, std::uint64_t seed) {
  MAXPLUS_REQUIRE(all_.space() == Space::host && all_.data() != nullptr, "weights in host memory");
  const std::vector<WeightSpec> specs = find_family(config_.family, "model").weights(config_);
  for (const std::size_t i : parameters) {
    const std::span<float> out = parameters_[i].weight.span<float>();
    if (is_vector(specs[i].role)) {
      std::fill(out.begin(), out.end(), initial_value(specs[i].role, config_));
    } else {
      fill_normal(out, initial_deviation(specs[i], config_), seed,
                  XXH3_64bits(specs[i].name.data(), specs[i].name.size()));
    }
  }
}

std::string WeightSet::hash() const {
  MAXPLUS_REQUIRE(all_.space() == Space::host && all_.data() != nullptr, "weights in host memory");
  std::vector<const Parameter*> sorted;
  for (const Parameter& parameter : parameters_) sorted.push_back(&parameter);
  std::sort(sorted.begin(), sorted.end(), [](const Parameter* a, const Parameter* b) { return a->name < b->name; });
  Fingerprint hash;
  for (const Parameter* parameter : sorted) hash.add(parameter->weight.data(), parameter->weight.bytes());
  return hash.text();
}

}  // namespace maxplus
