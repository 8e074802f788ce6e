#pragma once
// Innermost body of the rotary embedding.

#include <cstdint>

namespace maxplus::host {

struct RotaryTable {
  // The first `heads` heads of width 2 * half of one token's row; direction +1 or -1 is the sign of the angle.
  void (*turn)(float* row, const float* cosine, const float* sine, std::int64_t heads, std::int64_t half,
               float direction);
};

namespace plain {
const RotaryTable& rotary_table();
}
namespace avx2 {
const RotaryTable& rotary_table();
}
namespace avx512 {
const RotaryTable& rotary_table();
}

}  // namespace maxplus::host
