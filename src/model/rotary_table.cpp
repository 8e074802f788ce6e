// Rotary tables.
#include "model/rotary_table.hpp"

#include "base/exact_math.hpp"
#include "ops/elementwise.hpp"

namespace maxplus {

namespace {

double llama3_frequency(double frequency, const RotaryScaling& scaling) {
  constexpr double kTwoPi = 6.28318530717958647693;
  const double original = static_cast<double>(scaling.original_context);
  const double wavelength = kTwoPi / frequency;
  if (wavelength < original / scaling.high_frequency_factor) return frequency;
  if (wavelength > original / scaling.low_frequency_factor) return frequency / scaling.factor;
  const double share = (original / wavelength - scaling.low_frequency_factor) /
                       (scaling.high_frequency_factor - scaling.low_frequency_factor);
  return (1 - share) * frequency / scaling.factor + share * frequency;
}

}  // namespace

std::vector<double> rotary_frequencies(const ModelConfig& config) {
  std::vector<double> frequencies;
  for (std::int64_t i = 0; i < config.head_width / 2; ++i) {
    const double exponent = -2.0 * static_cast<double>(i) / static_cast<double>(config.head_width);
    double frequency = exact_pow(config.rotary_theta, exponent);
    if (config.rotary_scaling.kind == RotaryScaling::Kind::llama3)
      frequency = llama3_frequency(frequency, config.rotary_scaling);
    frequencies.push_back(frequency);
  }
  return frequencies;
}

RotaryTable::RotaryTable(const ModelConfig& config, const Stream& stream, Arena& arena) {
  cosine_ = arena.take(DType::f32, {config.context, config.head_width / 2});
  sine_ = arena.take(DType::f32, {config.context, config.head_width / 2});
  if (arena.counting()) return;
  const std::vector<double> frequencies = rotary_frequencies(config);
  std::vector<float> cosine, sine;
  for (std::int64_t position = 0; position < config.context; ++position) {
    for (double frequency : frequencies) {
      const double angle = static_cast<double>(position) * frequency;
      cosine.push_back(static_cast<float>(exact_cos(angle)));
      sine.push_back(static_cast<float>(exact_sin(angle)));
    }
  }
  ops::copy_to_device(stream, cosine_, cosine.data());
  ops::copy_to_device(stream, sine_, sine.data());
}

}  // namespace maxplus
