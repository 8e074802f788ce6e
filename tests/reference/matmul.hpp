#pragma once
// Matrix products as plain loops with std::fma, in the order that ops/matmul.hpp promises.

#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "ops/matmul.hpp"

namespace maxplus::reference {

inline float to_bf16(float x) {
  if (std::isnan(x)) return x;
  std::uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  bits = (bits + 0x7fffu + ((bits >> 16) & 1u)) & 0xffff0000u;
  std::memcpy(&x, &bits, sizeof bits);
  return x;
}

// acc = fma(a(k), b(k), acc) over k < count: ascending; or of rounded numbers, missing ones zero, in pairs 1, 0, 3, 2,
// ...; or even and odd ones of 32 as two chains from zero whose sum is added.
template <class A, class B>
float chain(A a, B b, std::int64_t count, float acc, ops::Arithmetic arithmetic) {
  if (arithmetic == ops::Arithmetic::f32) {
    for (std::int64_t k = 0; k < count; ++k) acc = std::fma(a(k), b(k), acc);
    return acc;
  }
  const auto next = [&](std::int64_t k, float sum) {
    return k < count ? std::fma(to_bf16(a(k)), to_bf16(b(k)), sum) : std::fma(0.0f, 0.0f, sum);
  };
  if (arithmetic == ops::Arithmetic::bf16_dot) {
    for (std::int64_t k = 0; k < count; k += 2) acc = next(k, next(k + 1, acc));
    return acc;
  }
  for (std::int64_t begin = 0; begin < count; begin += 32) {
    float even = 0.0f, odd = 0.0f;
    for (std::int64_t k = begin; k < begin + 32; k += 2) {
      even = next(k, even);
      odd = next(k + 1, odd);
    }
    acc = acc + (even + odd);
  }
  return acc;
}

// out [M, N] = in [M, K] weight [N, K]^T
inline std::vector<float> product(const std::vector<float>& in, const std::vector<float>& weight, std::int64_t rows,
                                  std::int64_t outputs, std::int64_t inputs, ops::Arithmetic arithmetic) {
  std::vector<float> out(static_cast<std::size_t>(rows * outputs));
  for (std::int64_t m = 0; m < rows; ++m) {
    for (std::int64_t n = 0; n < outputs; ++n) {
      const float* a = in.data() + m * inputs;
      const float* b = weight.data() + n * inputs;
      out[static_cast<std::size_t>(m * outputs + n)] =
          chain([&](std::int64_t k) { return a[k]; }, [&](std::int64_t k) { return b[k]; }, inputs, 0.0f, arithmetic);
    }
  }
  return out;
}

// d_weight [N, K] += d_out [M, N]^T in [M, K]
inline void weight_gradient(std::vector<float>& d_weight, const std::vector<float>& d_out, const std::vector<float>& in,
                            std::int64_t tokens, std::int64_t outputs, std::int64_t inputs,
                            ops::Arithmetic arithmetic) {
  for (std::int64_t n = 0; n < outputs; ++n) {
    for (std::int64_t c = 0; c < inputs; ++c) {
      float& out = d_weight[static_cast<std::size_t>(n * inputs + c)];
      out =
          chain([&](std::int64_t m) { return d_out[static_cast<std::size_t>(m * outputs + n)]; },
                [&](std::int64_t m) { return in[static_cast<std::size_t>(m * inputs + c)]; }, tokens, out, arithmetic);
    }
  }
}

}  // namespace maxplus::reference
