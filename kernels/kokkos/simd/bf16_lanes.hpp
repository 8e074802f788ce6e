#pragma once
// The bf16 numbers in the high and in the low halves of sixteen words, widened to fp32.

#include "kokkos/simd/lanes.hpp"

namespace maxplus::host::MAXPLUS_SIMD {

#if defined(MAXPLUS_SIMD_avx512)

MAXPLUS_LANE Lanes high_bf16(Lanes words) {
  const __m512i mask = _mm512_set1_epi32(static_cast<int>(0xffff0000u));
  return {_mm512_castsi512_ps(_mm512_and_si512(_mm512_castps_si512(words.all), mask))};
}
MAXPLUS_LANE Lanes low_bf16(Lanes words) {
  return {_mm512_castsi512_ps(_mm512_slli_epi32(_mm512_castps_si512(words.all), 16))};
}

#elif defined(MAXPLUS_SIMD_avx2)

MAXPLUS_LANE Lanes high_bf16(Lanes words) {
  const __m256 mask = _mm256_castsi256_ps(_mm256_set1_epi32(static_cast<int>(0xffff0000u)));
  return {_mm256_and_ps(words.low, mask), _mm256_and_ps(words.high, mask)};
}
MAXPLUS_LANE Lanes low_bf16(Lanes words) {
  return {_mm256_castsi256_ps(_mm256_slli_epi32(_mm256_castps_si256(words.low), 16)),
          _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_castps_si256(words.high), 16))};
}

#else

MAXPLUS_LANE Lanes high_bf16(Lanes words) {
  for (float& lane : words.lane) lane = from_bits1(bits1(lane) & 0xffff0000u);
  return words;
}
MAXPLUS_LANE Lanes low_bf16(Lanes words) {
  for (float& lane : words.lane) lane = from_bits1(bits1(lane) << 16);
  return words;
}

#endif

}  // namespace maxplus::host::MAXPLUS_SIMD
