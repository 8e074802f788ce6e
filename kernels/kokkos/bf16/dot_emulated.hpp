#pragma once
// The step of dot_instruction.hpp in plain code. Included by dot.cpp only.

namespace maxplus::host::MAXPLUS_SIMD {

using DotColumn = Lanes;

MAXPLUS_LANE DotColumn dot_column(const float* unit) { return load(unit); }
MAXPLUS_LANE Lanes dot_step(Lanes acc, const float* word, DotColumn column) {
  const Lanes pair = broadcast(*word);
  acc = fma(high_bf16(pair), high_bf16(column), acc);
  return fma(low_bf16(pair), low_bf16(column), acc);
}

}  // namespace maxplus::host::MAXPLUS_SIMD
