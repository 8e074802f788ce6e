#pragma once
// The step of dot_instruction.hpp in plain code. Included by dot.cpp only.

namespace maxplus::host::MAXPLUS_SIMD {

using DotPairs = Lanes;

MAXPLUS_LANE DotPairs dot_column(const float* unit) { return load(unit); }
MAXPLUS_LANE DotPairs dot_row(float word) { return broadcast(word); }
MAXPLUS_LANE Lanes dot_step(Lanes acc, DotPairs row, DotPairs column) {
  acc = fma(high_bf16(row), high_bf16(column), acc);
  return fma(low_bf16(row), low_bf16(column), acc);
}

}  // namespace maxplus::host::MAXPLUS_SIMD
