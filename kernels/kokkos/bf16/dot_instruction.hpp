#pragma once
// A step of a chain by the dot-product instruction: acc = fma(even, even, fma(odd, odd, acc)). Included by dot.cpp
// only.

#include <immintrin.h>

namespace maxplus::host::MAXPLUS_SIMD {

using DotPairs = __m512bh;

MAXPLUS_LANE DotPairs dot_column(const float* unit) { return (__m512bh)_mm512_loadu_ps(unit); }
MAXPLUS_LANE DotPairs dot_row(float word) { return (__m512bh)_mm512_set1_ps(word); }
MAXPLUS_LANE Lanes dot_step(Lanes acc, DotPairs row, DotPairs column) {
  return {_mm512_dpbf16_ps(acc.all, row, column)};
}

}  // namespace maxplus::host::MAXPLUS_SIMD
