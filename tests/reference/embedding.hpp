#pragma once
// Rows taken from a table, and added back into it, as plain double loops (ops/embedding.hpp).

#include <cstddef>
#include <cstdint>
#include <vector>

namespace maxplus::reference {

// Row index[i] of a table with `width` columns, for each i.
inline std::vector<double> take_rows(const std::vector<double>& table, const std::vector<std::int32_t>& index,
                                     std::size_t width) {
  std::vector<double> out(index.size() * width);
  for (std::size_t i = 0; i < index.size(); ++i) {
    for (std::size_t c = 0; c < width; ++c) out[i * width + c] = table[static_cast<std::size_t>(index[i]) * width + c];
  }
  return out;
}

inline void add_rows(std::vector<double>& table, const std::vector<double>& in, const std::vector<std::int32_t>& index,
                     std::size_t width) {
  for (std::size_t i = 0; i < index.size(); ++i) {
    for (std::size_t c = 0; c < width; ++c) table[static_cast<std::size_t>(index[i]) * width + c] += in[i * width + c];
  }
}

}  // namespace maxplus::reference
