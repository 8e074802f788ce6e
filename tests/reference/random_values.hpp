#pragma once
// Seeded inputs of tests: numbers in [-1, 1), and memory that is poisoned before a kernel writes it.

#include <cstdint>
#include <limits>
#include <vector>

#include "base/random.hpp"

namespace maxplus::reference {

inline std::vector<float> random_values(std::int64_t count, std::uint64_t seed) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    values[static_cast<std::size_t>(i)] = 2.0f * uniform(seed, Purpose::test, static_cast<std::uint64_t>(i), 0) - 1.0f;
  }
  return values;
}

inline std::vector<float> poisoned(std::int64_t count) {
  return std::vector<float>(static_cast<std::size_t>(count), std::numeric_limits<float>::quiet_NaN());
}

}  // namespace maxplus::reference
