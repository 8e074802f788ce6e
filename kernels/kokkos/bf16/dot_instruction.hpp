#pragma once
// A step of a chain by the dot-product instruction: acc = fma(even, even, fma(odd, odd, acc)). Included by dot.cpp
// only.

#include <immintrin.h>

namespace maxplus::host::MAXPLUS_SIMD {

using DotColumn = __m512bh;

MAXPLUS_LANE DotColumn dot_column(const float* unit) { return (__m512bh)_mm512_loadu_ps(unit); }
MAXPLUS_LANE Lanes dot_step(Lanes acc, const float* word, DotColumn column) {
  return {_mm512_dpbf16_ps(acc.all, (__m512bh)_mm512_set1_ps(*word), column)};
}

}  // namespace maxplus::host::MAXPLUS_SIMD
