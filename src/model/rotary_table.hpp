#pragma once
// Cosines and sines of all positions, in double rounded once to f32, with bits that no processor changes.

#include <vector>

#include "device/stream.hpp"
#include "model/model_config.hpp"
#include "tensor/arena.hpp"

namespace maxplus {

// Angle a position, for each of the D/2 pairs: theta^(-2i/D), scaled as the configuration says. Llama 3.1's rule: a
// wavelength below original_context / high stays, one above original_context / low is stretched by the factor, between
// them the two are mixed. YaRN: a pair that turns more than beta_fast times within the original context stays, one that
// turns less than beta_slow times is stretched; between them the two are mixed linearly in the pair's number.
std::vector<double> rotary_frequencies(const ModelConfig& config);
// What cosines and sines are multiplied by: 1, or YaRN's attention factor, 0.1 ln(factor) + 1 unless given otherwise.
double rotary_magnitude(const RotaryScaling& scaling);

class RotaryTable {
 public:
  RotaryTable(const ModelConfig& config, const Stream& stream, Arena& arena);
  TensorView cosine() const { return cosine_; }  // [context, D/2]
  TensorView sine() const { return sine_; }

 private:
  TensorView cosine_, sine_;
};

}  // namespace maxplus
