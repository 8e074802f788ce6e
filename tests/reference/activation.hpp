#pragma once
// Gated activations, soft caps and their gradients as plain double loops (ops/activation.hpp). T tokens, F feed-forward
// width.

#include <cmath>
#include <cstddef>
#include <vector>

namespace maxplus::reference {

inline std::vector<double> swiglu(const std::vector<double>& gate_up, std::size_t width) {
  const std::size_t tokens = width ? gate_up.size() / (2 * width) : 0;
  std::vector<double> out(tokens * width);
  for (std::size_t t = 0; t < tokens; ++t) {
    for (std::size_t f = 0; f < width; ++f) {
      const double gate = gate_up[t * 2 * width + f], up = gate_up[t * 2 * width + width + f];
      out[t * width + f] = gate / (1 + std::exp(-gate)) * up;
    }
  }
  return out;
}

inline std::vector<double> swiglu_backward(const std::vector<double>& d_out, const std::vector<double>& gate_up,
                                           std::size_t width) {
  const std::size_t tokens = width ? d_out.size() / width : 0;
  std::vector<double> d_gate_up(gate_up.size());
  for (std::size_t t = 0; t < tokens; ++t) {
    for (std::size_t f = 0; f < width; ++f) {
      const double gate = gate_up[t * 2 * width + f], up = gate_up[t * 2 * width + width + f];
      const double sigmoid = 1 / (1 + std::exp(-gate)), d = d_out[t * width + f];
      d_gate_up[t * 2 * width + f] = d * up * sigmoid * (1 + gate * (1 - sigmoid));
      d_gate_up[t * 2 * width + width + f] = d * gate * sigmoid;
    }
  }
  return d_gate_up;
}

// The tanh form of GELU, and its derivative.
inline double gelu_angle(double x) { return std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x); }
inline double gelu(double x) { return 0.5 * x * (1 + std::tanh(gelu_angle(x))); }
inline double gelu_slope(double x) {
  const double t = std::tanh(gelu_angle(x));
  return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * std::sqrt(2 / std::acos(-1.0)) * (1 + 3 * 0.044715 * x * x);
}

inline std::vector<double> geglu(const std::vector<double>& gate_up, std::size_t width) {
  const std::size_t tokens = width ? gate_up.size() / (2 * width) : 0;
  std::vector<double> out(tokens * width);
  for (std::size_t t = 0; t < tokens; ++t) {
    for (std::size_t f = 0; f < width; ++f)
      out[t * width + f] = gelu(gate_up[t * 2 * width + f]) * gate_up[t * 2 * width + width + f];
  }
  return out;
}

inline std::vector<double> geglu_backward(const std::vector<double>& d_out, const std::vector<double>& gate_up,
                                          std::size_t width) {
  const std::size_t tokens = width ? d_out.size() / width : 0;
  std::vector<double> d_gate_up(gate_up.size());
  for (std::size_t t = 0; t < tokens; ++t) {
    for (std::size_t f = 0; f < width; ++f) {
      const double gate = gate_up[t * 2 * width + f], up = gate_up[t * 2 * width + width + f], d = d_out[t * width + f];
      d_gate_up[t * 2 * width + f] = d * up * gelu_slope(gate);
      d_gate_up[t * 2 * width + width + f] = d * gelu(gate);
    }
  }
  return d_gate_up;
}

}  // namespace maxplus::reference
