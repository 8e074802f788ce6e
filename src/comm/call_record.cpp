#include "comm/call_record.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace maxplus {

const char* CallRecord::last() const {
  const std::uint64_t n = begun();
  return n == 0 ? "none" : rows_[(n - 1) % kRows].call.load(std::memory_order_relaxed);
}

std::string CallRecord::text() const {
  const std::uint64_t n = begun();
  const std::uint64_t ended = ended_.load(std::memory_order_acquire);
  std::string out;
  for (std::uint64_t i = n - std::min(n, kRows); i < n; ++i) {
    const Row& row = rows_[i % kRows];
    out += fmt::format("#{} {} {} bytes {}\n", row.number.load(std::memory_order_relaxed) + 1,
                       row.call.load(std::memory_order_relaxed), row.bytes.load(std::memory_order_relaxed),
                       i < ended ? "done" : "running");
  }
  return out;
}

}  // namespace maxplus
