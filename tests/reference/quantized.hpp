#pragma once
// Blocks of 8 bits, written independently of the kernels.

#include <cmath>
#include <cstdint>
#include <vector>

namespace maxplus::reference {

// What comes back of x: blocks of 32 with a scale of largest / 127, nearest, halves away from 0.
inline std::vector<float> through_eight_bits(const std::vector<float>& x) {
  std::vector<float> back(x.size(), 0.0f);
  for (std::size_t first = 0; first < x.size(); first += 32) {
    const std::size_t last = first + 32 < x.size() ? first + 32 : x.size();
    float largest = 0;
    for (std::size_t i = first; i < last; ++i) largest = std::fabs(x[i]) > largest ? std::fabs(x[i]) : largest;
    if (largest == 0) continue;
    const float scale = largest / 127.0f;
    for (std::size_t i = first; i < last; ++i) back[i] = scale * std::round(x[i] * (1.0f / scale));
  }
  return back;
}

}  // namespace maxplus::reference
