// Rotary tables.
#include "model/rotary_table.hpp"

#include <algorithm>
#include <cmath>

#include "base/exact_math.hpp"
#include "ops/elementwise.hpp"

namespace maxplus {

namespace {

constexpr double kFullTurn = 6.28318530717958647693;

double llama3_frequency(double frequency, const RotaryScaling& scaling) {
  const double original = static_cast<double>(scaling.original_context);
  const double wavelength = kFullTurn / frequency;
  if (wavelength < original / scaling.high_frequency_factor) return frequency;
  if (wavelength > original / scaling.low_frequency_factor) return frequency / scaling.factor;
  const double share = (original / wavelength - scaling.low_frequency_factor) /
                       (scaling.high_frequency_factor - scaling.low_frequency_factor);
  return (1 - share) * frequency / scaling.factor + share * frequency;
}

// The number of the pair, not a whole one, that turns so often within the original context.
double pair_of_turns(const ModelConfig& config, double turns) {
  const double positions_a_radian = static_cast<double>(config.rotary_scaling.original_context) / (turns * kFullTurn);
  return static_cast<double>(config.head_width) * exact_log(positions_a_radian) / (2 * exact_log(config.rotary_theta));
}

// The ramp's value at each pair: 0 keeps the frequency, 1 divides it by the factor.
std::vector<double> yarn_ramp(const ModelConfig& config) {
  const RotaryScaling& scaling = config.rotary_scaling;
  double low = pair_of_turns(config, scaling.beta_fast), high = pair_of_turns(config, scaling.beta_slow);
  if (scaling.ramp == RotaryScaling::Ramp::whole_pairs) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  low = std::max(low, 0.0);
  high = std::min(high, static_cast<double>(config.head_width - 1));
  if (low == high) high += 0.001;  // a step
  std::vector<double> ramp;
  for (std::int64_t i = 0; i < config.head_width / 2; ++i)
    ramp.push_back(std::clamp((static_cast<double>(i) - low) / (high - low), 0.0, 1.0));
  return ramp;
}

}  // namespace

double rotary_magnitude(const RotaryScaling& s) {
  if (s.kind != RotaryScaling::Kind::yarn) return 1;
  if (s.attention_factor > 0) return s.attention_factor;
  const auto magnitude = [&](double scale) { return s.factor > 1 ? 0.1 * scale * exact_log(s.factor) + 1 : 1.0; };
  return s.mscale > 0 && s.mscale_all_dim > 0 ? magnitude(s.mscale) / magnitude(s.mscale_all_dim) : magnitude(1);
}

std::vector<double> rotary_frequencies(const ModelConfig& config) {
  std::vector<double> frequencies;
  const bool yarn = config.rotary_scaling.kind == RotaryScaling::Kind::yarn;
  const std::vector<double> ramp = yarn ? yarn_ramp(config) : std::vector<double>();
  for (std::int64_t i = 0; i < config.head_width / 2; ++i) {
    const double exponent = -2.0 * static_cast<double>(i) / static_cast<double>(config.head_width);
    double frequency = exact_pow(config.rotary_theta, exponent);
    if (config.rotary_scaling.kind == RotaryScaling::Kind::llama3)
      frequency = llama3_frequency(frequency, config.rotary_scaling);
    if (yarn) {
      const double share = ramp[static_cast<std::size_t>(i)];
      frequency = share * frequency / config.rotary_scaling.factor + (1 - share) * frequency;
    }
    frequencies.push_back(frequency);
  }
  return frequencies;
}

RotaryTable::RotaryTable(const ModelConfig& config, const Stream& stream, Arena& arena) {
  cosine_ = arena.take(DType::f32, {config.context, config.head_width / 2});
  sine_ = arena.take(DType::f32, {config.context, config.head_width / 2});
  if (arena.counting()) return;
  const std::vector<double> frequencies = rotary_frequencies(config);
  const double magnitude = rotary_magnitude(config.rotary_scaling);
  std::vector<float> cosine, sine;
  for (std::int64_t position = 0; position < config.context; ++position) {
    for (double frequency : frequencies) {
      const double angle = static_cast<double>(position) * frequency;
      cosine.push_back(static_cast<float>(magnitude * exact_cos(angle)));
      sine.push_back(static_cast<float>(magnitude * exact_sin(angle)));
    }
  }
  ops::copy_to_device(stream, cosine_, cosine.data());
  ops::copy_to_device(stream, sine_, sine.data());
}

}  // namespace maxplus
