#pragma once
// RMS normalisation and its gradient as plain double loops (formulas: ops/norm.hpp). T tokens, C channels.

#include <cmath>
#include <cstddef>
#include <vector>

namespace maxplus::reference {

struct RmsNorm {
  std::vector<double> out;          // [T, C]
  std::vector<double> inverse_rms;  // [T]
};

inline RmsNorm rms_norm(const std::vector<double>& in, const std::vector<double>& weight, double epsilon) {
  const std::size_t channels = weight.size(), tokens = channels ? in.size() / channels : 0;
  RmsNorm result{std::vector<double>(in.size()), std::vector<double>(tokens)};
  for (std::size_t t = 0; t < tokens; ++t) {
    double sum = 0;
    for (std::size_t c = 0; c < channels; ++c) sum += in[t * channels + c] * in[t * channels + c];
    const double r = 1 / std::sqrt(sum / static_cast<double>(channels) + epsilon);
    result.inverse_rms[t] = r;
    for (std::size_t c = 0; c < channels; ++c) result.out[t * channels + c] = in[t * channels + c] * r * weight[c];
  }
  return result;
}

struct RmsNormGradient {
  std::vector<double> d_in;      // [T, C], without what arrives past the norm
  std::vector<double> d_weight;  // [C]
};

// d_in = r (d_out w) - in r^3 / C sum over c of (d_out w in).
inline RmsNormGradient rms_norm_backward(const std::vector<double>& d_out, const std::vector<double>& in,
                                         const std::vector<double>& inverse_rms, const std::vector<double>& weight) {
  const std::size_t channels = weight.size(), tokens = inverse_rms.size();
  RmsNormGradient result{std::vector<double>(in.size()), std::vector<double>(channels)};
  for (std::size_t t = 0; t < tokens; ++t) {
    const double r = inverse_rms[t];
    double dot = 0;
    for (std::size_t c = 0; c < channels; ++c) dot += d_out[t * channels + c] * weight[c] * in[t * channels + c];
    const double pull = r * r * r * dot / static_cast<double>(channels);
    for (std::size_t c = 0; c < channels; ++c) {
      const std::size_t i = t * channels + c;
      result.d_in[i] = r * d_out[i] * weight[c] - pull * in[i];
      result.d_weight[c] += d_out[i] * in[i] * r;
    }
  }
  return result;
}

}  // namespace maxplus::reference
