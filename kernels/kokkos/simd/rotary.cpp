// Rotary embedding of one token: sixteen angles in lanes, used for all heads.
#include "kokkos/simd/rotary_table.hpp"

#include "kokkos/simd/lanes.hpp"

namespace maxplus::host::MAXPLUS_SIMD {

namespace {

void turn(float* row, const float* cosine, const float* sine, std::int64_t heads, std::int64_t half, float direction) {
  for (std::int64_t i = 0; i < half; i += kLanes) {
    const int count = half - i < kLanes ? static_cast<int>(half - i) : kLanes;
    const Lanes c = load_masked(cosine + i, count, 0.0f);
    const Lanes s = load_masked(sine + i, count, 0.0f) * broadcast(direction);
    const Lanes minus_s = s * broadcast(-1.0f);
    for (std::int64_t h = 0; h < heads; ++h) {
      float* const first = row + 2 * half * h + i;
      float* const second = first + half;
      const Lanes x1 = load_masked(first, count, 0.0f), x2 = load_masked(second, count, 0.0f);
      store_masked(first, fma(x1, c, x2 * minus_s), count);
      store_masked(second, fma(x2, c, x1 * s), count);
    }
  }
}

constexpr RotaryTable kTable = {turn};

}  // namespace

const RotaryTable& rotary_table() { return kTable; }

}  // namespace maxplus::host::MAXPLUS_SIMD
