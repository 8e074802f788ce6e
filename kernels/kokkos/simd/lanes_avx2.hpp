#pragma once
// Sixteen lanes as two registers of eight. Included by lanes.hpp only.

#include <immintrin.h>

namespace maxplus::host::MAXPLUS_SIMD {

struct Lanes {
  __m256 low, high;
};

// All bits set in the lanes below count.
MAXPLUS_LANE __m256i lane_mask(int count) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(count), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

MAXPLUS_LANE Lanes load(const float* p) { return {_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)}; }
MAXPLUS_LANE Lanes broadcast(float x) { return {_mm256_set1_ps(x), _mm256_set1_ps(x)}; }
MAXPLUS_LANE Lanes select(int count, Lanes a, Lanes b) {
  return {_mm256_blendv_ps(b.low, a.low, _mm256_castsi256_ps(lane_mask(count))),
          _mm256_blendv_ps(b.high, a.high, _mm256_castsi256_ps(lane_mask(count - 8)))};
}
MAXPLUS_LANE Lanes load_part(const float* p, int count, float fill) {
  const Lanes loaded = {_mm256_maskload_ps(p, lane_mask(count)),
                        count > 8 ? _mm256_maskload_ps(p + 8, lane_mask(count - 8)) : _mm256_setzero_ps()};
  return select(count, loaded, broadcast(fill));
}
MAXPLUS_LANE void store(float* p, Lanes a) {
  _mm256_storeu_ps(p, a.low);
  _mm256_storeu_ps(p + 8, a.high);
}
MAXPLUS_LANE void store_part(float* p, Lanes a, int count) {
  _mm256_maskstore_ps(p, lane_mask(count), a.low);
  if (count > 8) _mm256_maskstore_ps(p + 8, lane_mask(count - 8), a.high);
}
MAXPLUS_LANE Lanes operator+(Lanes a, Lanes b) { return {_mm256_add_ps(a.low, b.low), _mm256_add_ps(a.high, b.high)}; }
MAXPLUS_LANE Lanes operator-(Lanes a, Lanes b) { return {_mm256_sub_ps(a.low, b.low), _mm256_sub_ps(a.high, b.high)}; }
MAXPLUS_LANE Lanes operator*(Lanes a, Lanes b) { return {_mm256_mul_ps(a.low, b.low), _mm256_mul_ps(a.high, b.high)}; }
MAXPLUS_LANE Lanes div(Lanes a, Lanes b) { return {_mm256_div_ps(a.low, b.low), _mm256_div_ps(a.high, b.high)}; }
MAXPLUS_LANE Lanes sqrt(Lanes a) { return {_mm256_sqrt_ps(a.low), _mm256_sqrt_ps(a.high)}; }
MAXPLUS_LANE Lanes fma(Lanes a, Lanes b, Lanes c) {
  return {_mm256_fmadd_ps(a.low, b.low, c.low), _mm256_fmadd_ps(a.high, b.high, c.high)};
}
MAXPLUS_LANE Lanes max(Lanes a, Lanes b) { return {_mm256_max_ps(a.low, b.low), _mm256_max_ps(a.high, b.high)}; }
MAXPLUS_LANE Lanes min(Lanes a, Lanes b) { return {_mm256_min_ps(a.low, b.low), _mm256_min_ps(a.high, b.high)}; }

MAXPLUS_LANE float sum(Lanes a) {
  const __m256 eight = _mm256_add_ps(a.low, a.high);
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps(two, two, 1)));
}
MAXPLUS_LANE float max_lane(Lanes a) {
  const __m256 eight = _mm256_max_ps(a.low, a.high);
  const __m128 four = _mm_max_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_max_ss(two, _mm_shuffle_ps(two, two, 1)));
}

MAXPLUS_LANE __m256 round_bf16_8(__m256 x) {
  const __m256i bits = _mm256_castps_si256(x);
  const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
  const __m256i rounded = _mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff)));
  const __m256i quiet = _mm256_or_si256(bits, _mm256_set1_epi32(0x00400000));
  const __m256 nan = _mm256_cmp_ps(x, x, _CMP_UNORD_Q);
  const __m256 value = _mm256_blendv_ps(_mm256_castsi256_ps(rounded), _mm256_castsi256_ps(quiet), nan);
  return _mm256_and_ps(value, _mm256_castsi256_ps(_mm256_set1_epi32(static_cast<int>(0xffff0000u))));
}
MAXPLUS_LANE Lanes round_bf16(Lanes a) { return {round_bf16_8(a.low), round_bf16_8(a.high)}; }

// p * 2^n with n in the low bits of t; zero, infinity and NaN by x.
MAXPLUS_LANE __m256 finish_exp_8(__m256 x, __m256 p, __m256 t) {
  const __m256i power = _mm256_slli_epi32(_mm256_castps_si256(t), 23);
  __m256 value = _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(p), power));
  const __m256 above = _mm256_cmp_ps(x, _mm256_set1_ps(ExpConstants::kHighest), _CMP_GT_OQ);
  const __m256 below = _mm256_cmp_ps(x, _mm256_set1_ps(ExpConstants::kLowest), _CMP_LT_OQ);
  value = _mm256_blendv_ps(value, _mm256_castsi256_ps(_mm256_set1_epi32(0x7f800000)), above);
  value = _mm256_andnot_ps(below, value);
  return _mm256_blendv_ps(value, x, _mm256_cmp_ps(x, x, _CMP_UNORD_Q));
}
MAXPLUS_LANE Lanes finish_exp(Lanes x, Lanes p, Lanes t) {
  return {finish_exp_8(x.low, p.low, t.low), finish_exp_8(x.high, p.high, t.high)};
}

}  // namespace maxplus::host::MAXPLUS_SIMD
