#pragma once
// Sixteen lanes as one register. Included by lanes.hpp only.

#include <immintrin.h>

namespace maxplus::host::MAXPLUS_SIMD {

struct Lanes {
  __m512 all;
};

// One bit a lane below count.
MAXPLUS_LANE __mmask16 lane_mask(int count) {
  return static_cast<__mmask16>(count >= kLanes ? 0xffffu : count <= 0 ? 0u : (1u << count) - 1u);
}

MAXPLUS_LANE Lanes load(const float* p) { return {_mm512_loadu_ps(p)}; }
MAXPLUS_LANE Lanes broadcast(float x) { return {_mm512_set1_ps(x)}; }
MAXPLUS_LANE Lanes select(int count, Lanes a, Lanes b) {
  return {_mm512_mask_blend_ps(lane_mask(count), b.all, a.all)};
}
MAXPLUS_LANE Lanes load_part(const float* p, int count, float fill) {
  return {_mm512_mask_loadu_ps(_mm512_set1_ps(fill), lane_mask(count), p)};
}
MAXPLUS_LANE void store(float* p, Lanes a) { _mm512_storeu_ps(p, a.all); }
MAXPLUS_LANE void store_part(float* p, Lanes a, int count) { _mm512_mask_storeu_ps(p, lane_mask(count), a.all); }
MAXPLUS_LANE Lanes operator+(Lanes a, Lanes b) { return {_mm512_add_ps(a.all, b.all)}; }
MAXPLUS_LANE Lanes operator-(Lanes a, Lanes b) { return {_mm512_sub_ps(a.all, b.all)}; }
MAXPLUS_LANE Lanes operator*(Lanes a, Lanes b) { return {_mm512_mul_ps(a.all, b.all)}; }
MAXPLUS_LANE Lanes div(Lanes a, Lanes b) { return {_mm512_div_ps(a.all, b.all)}; }
MAXPLUS_LANE Lanes sqrt(Lanes a) { return {_mm512_sqrt_ps(a.all)}; }
MAXPLUS_LANE Lanes fma(Lanes a, Lanes b, Lanes c) { return {_mm512_fmadd_ps(a.all, b.all, c.all)}; }
MAXPLUS_LANE Lanes max(Lanes a, Lanes b) { return {_mm512_max_ps(a.all, b.all)}; }
MAXPLUS_LANE Lanes min(Lanes a, Lanes b) { return {_mm512_min_ps(a.all, b.all)}; }

MAXPLUS_LANE float sum(Lanes a) {
  const __m256 eight = _mm256_add_ps(_mm512_castps512_ps256(a.all), _mm512_extractf32x8_ps(a.all, 1));
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps(two, two, 1)));
}
MAXPLUS_LANE float max_lane(Lanes a) {
  const __m256 eight = _mm256_max_ps(_mm512_castps512_ps256(a.all), _mm512_extractf32x8_ps(a.all, 1));
  const __m128 four = _mm_max_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_max_ss(two, _mm_shuffle_ps(two, two, 1)));
}

MAXPLUS_LANE Lanes round_bf16(Lanes a) {
  const __m512i bits = _mm512_castps_si512(a.all);
  const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
  const __m512i rounded = _mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff)));
  const __m512i quiet = _mm512_or_si512(bits, _mm512_set1_epi32(0x00400000));
  const __mmask16 nan = _mm512_cmp_ps_mask(a.all, a.all, _CMP_UNORD_Q);
  const __m512i value = _mm512_mask_blend_epi32(nan, rounded, quiet);
  return {_mm512_castsi512_ps(_mm512_and_si512(value, _mm512_set1_epi32(static_cast<int>(0xffff0000u))))};
}

// p * 2^n with n in the low bits of t; zero, infinity and NaN by x.
MAXPLUS_LANE Lanes finish_exp(Lanes x, Lanes p, Lanes t) {
  const __m512i power = _mm512_slli_epi32(_mm512_castps_si512(t.all), 23);
  __m512 value = _mm512_castsi512_ps(_mm512_add_epi32(_mm512_castps_si512(p.all), power));
  const __mmask16 above = _mm512_cmp_ps_mask(x.all, _mm512_set1_ps(ExpConstants::kHighest), _CMP_GT_OQ);
  const __mmask16 below = _mm512_cmp_ps_mask(x.all, _mm512_set1_ps(ExpConstants::kLowest), _CMP_LT_OQ);
  const __mmask16 nan = _mm512_cmp_ps_mask(x.all, x.all, _CMP_UNORD_Q);
  value = _mm512_mask_blend_ps(above, value, _mm512_castsi512_ps(_mm512_set1_epi32(0x7f800000)));
  value = _mm512_mask_blend_ps(below, value, _mm512_setzero_ps());
  return {_mm512_mask_blend_ps(nan, value, x.all)};
}

}  // namespace maxplus::host::MAXPLUS_SIMD
