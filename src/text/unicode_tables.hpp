#pragma once
// The generated tables of Unicode as they lie in unicode_*.cpp (tools/unicode_tables.py writes them). Only
// text/unicode.cpp and text/nfc.cpp look at them.

#include <cstddef>
#include <cstdint>

namespace maxplus::unicode {

struct Decomposition {
  std::uint32_t code, first, second;
};

extern const std::uint32_t kCategoryRuns[];
extern const std::size_t kCategoryRunsCount;
extern const Decomposition kDecompositions[];
extern const std::size_t kDecompositionsCount;
extern const std::uint32_t kNeverComposed[];
extern const std::size_t kNeverComposedCount;
extern const std::uint32_t kCombiningRuns[];
extern const std::size_t kCombiningRunsCount;

}  // namespace maxplus::unicode
