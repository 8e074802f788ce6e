#pragma once
// bf16 and finiteness as bit patterns, written independently of the kernels.

#include <cmath>
#include <cstdint>
#include <cstring>

namespace maxplus::reference {

// Nearest even by comparing the two neighbours.
inline std::uint16_t bf16_bits(float x) {
  std::uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  const std::uint32_t low = bits & 0xffffu;
  std::uint32_t high = bits >> 16;
  if (std::isnan(x)) return static_cast<std::uint16_t>(high | 0x40u);
  if (low > 0x8000u || (low == 0x8000u && (high & 1u) == 1u)) ++high;
  return static_cast<std::uint16_t>(high);
}

inline float bf16_value(std::uint16_t half) {
  const std::uint32_t bits = static_cast<std::uint32_t>(half) << 16;
  float x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

}  // namespace maxplus::reference
