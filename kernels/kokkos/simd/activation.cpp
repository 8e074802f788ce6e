// SwiGLU of one token, elements in lanes.
//
// exp(-x) is infinite below -88: the quotient is then a zero and no product of zero and infinity is formed.
#include "kokkos/simd/activation_table.hpp"

#include "kokkos/simd/lanes.hpp"

namespace maxplus::host::MAXPLUS_SIMD {

namespace {

int lanes_left(std::int64_t extent, std::int64_t at) {
  return extent - at < kLanes ? static_cast<int>(extent - at) : kLanes;
}

MAXPLUS_LANE Lanes one_plus_exp_minus(Lanes x) { return exp(x * broadcast(-1.0f)) + broadcast(1.0f); }

void swiglu(float* out, const float* gate, const float* up, std::int64_t width) {
  for (std::int64_t f = 0; f < width; f += kLanes) {
    const int count = lanes_left(width, f);
    const Lanes x = load_masked(gate + f, count, 0.0f);
    store_masked(out + f, div(x, one_plus_exp_minus(x)) * load_masked(up + f, count, 0.0f), count);
  }
}

void swiglu_backward(float* d_gate, float* d_up, const float* d_out, const float* gate, const float* up,
                     std::int64_t width) {
  const Lanes one = broadcast(1.0f);
  for (std::int64_t f = 0; f < width; f += kLanes) {
    const int count = lanes_left(width, f);
    const Lanes x = load_masked(gate + f, count, 0.0f), d = load_masked(d_out + f, count, 0.0f);
    const Lanes sigmoid = div(one, one_plus_exp_minus(x));
    const Lanes slope = sigmoid * fma(x, one - sigmoid, one);  // of silu
    store_masked(d_gate + f, d * load_masked(up + f, count, 0.0f) * slope, count);
    store_masked(d_up + f, d * (x * sigmoid), count);
  }
}

constexpr ActivationTable kTable = {swiglu, swiglu_backward};

}  // namespace

const ActivationTable& activation_table() { return kTable; }

}  // namespace maxplus::host::MAXPLUS_SIMD
