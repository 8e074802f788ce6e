#pragma once
// Sixteen virtual fp32 lanes: the only vector type of the host kernels, with the same bits on every processor.
//
// Files in this folder are compiled once for each instruction set (MAXPLUS_SIMD is plain, avx2 or avx512), and one of
// the results is chosen at run time. Two rules keep that sound:
// - everything stands in the namespace maxplus::host::MAXPLUS_SIMD, and no header with inline functions of its own is
//   included (the linker would keep one copy of such a function, perhaps the one with instructions this processor
//   lacks);
// - an operation is either correctly rounded, or built here from such operations in one order (exp, log, sum).
//
// Lane-wise max and min are (a > b ? a : b) and (a < b ? a : b): the second operand wins when one is NaN.

#include <cstdint>

#ifndef MAXPLUS_SIMD
#error "lanes.hpp is for files of kernels/kokkos/simd, which are compiled for one instruction set at a time"
#endif

#define MAXPLUS_LANE [[gnu::always_inline]] inline

namespace maxplus::host::MAXPLUS_SIMD {

inline constexpr int kLanes = 16;

MAXPLUS_LANE float fma1(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
MAXPLUS_LANE std::uint32_t bits1(float x) { return __builtin_bit_cast(std::uint32_t, x); }
MAXPLUS_LANE float from_bits1(std::uint32_t x) { return __builtin_bit_cast(float, x); }

// exp(x) = 2^n * exp(r), n the nearest integer to x / ln 2, r = x - n ln 2 in two steps, exp(r) by a polynomial of
// degree 7 (Taylor up to the fitted end; error about 1 ulp). Results below the smallest normal number are 0.
struct ExpConstants {
  static constexpr float kLowest = -87.3365f, kHighest = 88.72283f;
  static constexpr float kInvLn2 = 1.44269504f, kMagic = 12582912.0f;  // 1.5 * 2^23
  static constexpr float kLn2High = 0.693359375f, kLn2Low = -2.12194440e-4f;
  static constexpr float kC7 = 1.9841270e-4f, kC6 = 1.3888889e-3f, kC5 = 8.3333333e-3f, kC4 = 4.1666667e-2f,
                         kC3 = 1.6666667e-1f, kC2 = 0.5f;
};

MAXPLUS_LANE float exp1(float x) {
  using E = ExpConstants;
  const float t = fma1(x, E::kInvLn2, E::kMagic);
  const float n = t - E::kMagic;
  const float r = fma1(n, -E::kLn2Low, fma1(n, -E::kLn2High, x));
  float p = E::kC7;
  p = fma1(p, r, E::kC6);
  p = fma1(p, r, E::kC5);
  p = fma1(p, r, E::kC4);
  p = fma1(p, r, E::kC3);
  p = fma1(p, r, E::kC2);
  p = fma1(p, r * r, r) + 1.0f;
  float value = from_bits1(bits1(p) + (bits1(t) << 23));
  value = x > E::kHighest ? from_bits1(0x7f800000u) : value;
  value = x < E::kLowest ? 0.0f : value;
  return x != x ? x : value;
}

// Natural logarithm, evaluated in double without contraction and rounded once. Below the smallest normal number, zero
// included: minus infinity; NaN for negative numbers.
MAXPLUS_LANE float log1_(float x) {
  if (x != x) return x;
  if (x < 1.17549435e-38f) return x < 0.0f ? from_bits1(0x7fc00000u) : from_bits1(0xff800000u);
  if (x > 3.40282347e+38f) return x;
  const std::uint32_t bits = bits1(x);
  int exponent = static_cast<int>(bits >> 23) - 127;
  double m = static_cast<double>(from_bits1((bits & 0x007fffffu) | 0x3f800000u));
  if (m > 1.41421356237309504880) {
    m *= 0.5;
    ++exponent;
  }
  const double s = (m - 1.0) / (m + 1.0);  // log m = 2 artanh s
  const double z = s * s;
  double sum = 1.0 / 15.0;
  sum = sum * z + 1.0 / 13.0;
  sum = sum * z + 1.0 / 11.0;
  sum = sum * z + 1.0 / 9.0;
  sum = sum * z + 1.0 / 7.0;
  sum = sum * z + 1.0 / 5.0;
  sum = sum * z + 1.0 / 3.0;
  const double log_m = 2.0 * s + 2.0 * s * z * sum;
  return static_cast<float>(static_cast<double>(exponent) * 6.93147180559945309417e-01 + log_m);
}

MAXPLUS_LANE float round_bf16_1(float x) {
  const std::uint32_t bits = bits1(x);
  const std::uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) & 0xffff0000u;
  return x != x ? from_bits1((bits | 0x00400000u) & 0xffff0000u) : from_bits1(rounded);
}

}  // namespace maxplus::host::MAXPLUS_SIMD

// Each of these defines Lanes and the operations named in its own file in the same order.
#if defined(MAXPLUS_SIMD_avx512)
#include "kokkos/simd/lanes_avx512.hpp"
#elif defined(MAXPLUS_SIMD_avx2)
#include "kokkos/simd/lanes_avx2.hpp"
#else
#include "kokkos/simd/lanes_plain.hpp"
#endif

namespace maxplus::host::MAXPLUS_SIMD {

MAXPLUS_LANE Lanes load_masked(const float* p, int count, float fill) {
  return count >= kLanes ? load(p) : load_part(p, count, fill);
}
MAXPLUS_LANE void store_masked(float* p, Lanes a, int count) {
  if (count >= kLanes) {
    store(p, a);
  } else {
    store_part(p, a, count);
  }
}

// exp(r) - 1 for a remainder |r| <= ln 2 / 2, and 1.5 * 2^23 plus the power of two that goes with it in `t`.
MAXPLUS_LANE Lanes exp_remainder(Lanes x, Lanes& t) {
  using E = ExpConstants;
  const Lanes magic = broadcast(E::kMagic);
  t = fma(x, broadcast(E::kInvLn2), magic);
  const Lanes n = t - magic;
  const Lanes r = fma(n, broadcast(-E::kLn2Low), fma(n, broadcast(-E::kLn2High), x));
  Lanes p = broadcast(E::kC7);
  p = fma(p, r, broadcast(E::kC6));
  p = fma(p, r, broadcast(E::kC5));
  p = fma(p, r, broadcast(E::kC4));
  p = fma(p, r, broadcast(E::kC3));
  p = fma(p, r, broadcast(E::kC2));
  return fma(p, r * r, r);
}

MAXPLUS_LANE Lanes exp(Lanes x) {
  Lanes t;
  const Lanes p = exp_remainder(x, t) + broadcast(1.0f);
  return finish_exp(x, p, t);
}

// tanh(x) = e / (e + 2), e = exp(2 x) - 1 = 2^n (exp(r) - 1) + (2^n - 1), which is exact enough near zero as well
// (error about 3 ulp); beyond 10 it is 1 to the last bit. NaN stays NaN.
MAXPLUS_LANE Lanes tanh(Lanes x) {
  const Lanes inside = min(broadcast(10.0f), max(broadcast(-10.0f), x)), twice = inside + inside;
  Lanes t;
  const Lanes remainder = exp_remainder(twice, t);
  const Lanes power = finish_exp(twice, broadcast(1.0f), t);
  const Lanes e = fma(power, remainder, power - broadcast(1.0f));
  return div(e, e + broadcast(2.0f));
}

}  // namespace maxplus::host::MAXPLUS_SIMD
