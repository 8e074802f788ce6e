#pragma once
// Rotary position embedding, rotate-half form, as a plain double loop (ops/rotary.hpp).

#include <cstddef>
#include <cstdint>
#include <vector>

namespace maxplus::reference {

// qkv [T, (H + 2 G) D] is turned in place: its first `turned_heads` = H + G heads. direction: +1 forward, -1 backward.
inline void rotary(std::vector<double>& qkv, const std::vector<double>& cosine, const std::vector<double>& sine,
                   const std::vector<std::int32_t>& position, std::size_t turned_heads, std::size_t row_width,
                   std::size_t head_width, double direction) {
  const std::size_t half = head_width / 2;
  for (std::size_t t = 0; t < position.size(); ++t) {
    for (std::size_t h = 0; h < turned_heads; ++h) {
      for (std::size_t i = 0; i < half; ++i) {
        const std::size_t angle = static_cast<std::size_t>(position[t]) * half + i;
        double& first = qkv[t * row_width + h * head_width + i];
        double& second = qkv[t * row_width + h * head_width + half + i];
        const double c = cosine[angle], s = direction * sine[angle], x1 = first, x2 = second;
        first = x1 * c - x2 * s;
        second = x2 * c + x1 * s;
      }
    }
  }
}

}  // namespace maxplus::reference
