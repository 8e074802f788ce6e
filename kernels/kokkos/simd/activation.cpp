// Gated activations of one token and soft caps, elements in lanes.
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

// gelu(x) = x / (1 + exp(-2 u)). Beyond 30 the exponential has become 0 or infinite, and the cube stays finite.
struct Gelu {
  static constexpr float kTwice = 1.59576912f, kCubic = 0.044715f;  // 2 sqrt(2 / pi)
  Lanes inside, square;

  MAXPLUS_LANE explicit Gelu(Lanes x) {
    inside = min(broadcast(30.0f), max(broadcast(-30.0f), x));
    square = inside * inside;
  }
  MAXPLUS_LANE Lanes one_plus_exp() const {
    const Lanes minus_two_u = inside * fma(square, broadcast(-kTwice * kCubic), broadcast(-kTwice));
    return exp(minus_two_u) + broadcast(1.0f);
  }
  MAXPLUS_LANE Lanes slope_of_two_u() const {
    return fma(square, broadcast(3.0f * kTwice * kCubic), broadcast(kTwice));
  }
};

void geglu(float* out, const float* gate, const float* up, std::int64_t width) {
  for (std::int64_t f = 0; f < width; f += kLanes) {
    const int count = lanes_left(width, f);
    const Lanes x = load_masked(gate + f, count, 0.0f);
    store_masked(out + f, div(x, Gelu(x).one_plus_exp()) * load_masked(up + f, count, 0.0f), count);
  }
}

void geglu_backward(float* d_gate, float* d_up, const float* d_out, const float* gate, const float* up,
                    std::int64_t width) {
  const Lanes one = broadcast(1.0f);
  for (std::int64_t f = 0; f < width; f += kLanes) {
    const int count = lanes_left(width, f);
    const Lanes x = load_masked(gate + f, count, 0.0f), d = load_masked(d_out + f, count, 0.0f);
    const Gelu gelu(x);
    const Lanes sigmoid = div(one, gelu.one_plus_exp());
    const Lanes slope = sigmoid * fma(gelu.inside * (one - sigmoid), gelu.slope_of_two_u(), one);
    store_masked(d_gate + f, d * load_masked(up + f, count, 0.0f) * slope, count);
    store_masked(d_up + f, d * (x * sigmoid), count);
  }
}

void soft_cap(float* out, const float* in, float cap, std::int64_t n) {
  const Lanes factor = broadcast(cap), inverse = broadcast(1.0f / cap);
  for (std::int64_t i = 0; i < n; i += kLanes) {
    const int count = lanes_left(n, i);
    store_masked(out + i, factor * tanh(load_masked(in + i, count, 0.0f) * inverse), count);
  }
}

void soft_cap_backward(float* d_in, const float* d_out, const float* out, float cap, std::int64_t n) {
  const Lanes inverse = broadcast(1.0f / cap), minus = broadcast(-1.0f), one = broadcast(1.0f);
  for (std::int64_t i = 0; i < n; i += kLanes) {
    const int count = lanes_left(n, i);
    const Lanes t = load_masked(out + i, count, 0.0f) * inverse;
    store_masked(d_in + i, load_masked(d_out + i, count, 0.0f) * fma(t * minus, t, one), count);
  }
}

constexpr ActivationTable kTable = {swiglu, swiglu_backward, geglu, geglu_backward, soft_cap, soft_cap_backward};

}  // namespace

const ActivationTable& activation_table() { return kTable; }

}  // namespace maxplus::host::MAXPLUS_SIMD
