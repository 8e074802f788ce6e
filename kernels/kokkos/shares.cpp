#include "kokkos/shares.hpp"

#include <algorithm>
#include <limits>

#include "base/error.hpp"

namespace maxplus::host {

namespace {

constexpr std::uint64_t packed_run(Run run) {
  return static_cast<std::uint64_t>(run.first) << 32 | static_cast<std::uint64_t>(run.last);
}
constexpr Run unpacked_run(std::uint64_t word) {
  return {static_cast<std::int64_t>(word >> 32), static_cast<std::int64_t>(word & 0xffffffffu)};
}

}  // namespace

void Shares::deal(std::int64_t parts, std::int64_t row) {
  MAXPLUS_REQUIRE(parts >= 0 && parts <= std::numeric_limits<std::int32_t>::max() && row >= 1, "parts of one call");
  row_ = row;
  const int threads = static_cast<int>(left_.size());
  for (int t = 0; t < threads; ++t) {
    left_[static_cast<std::size_t>(t)].range.store(
        packed_run({part_begin(parts, threads, t), part_begin(parts, threads, t + 1)}), std::memory_order_relaxed);
  }
}

bool Shares::take(int thread, Run& run) {
  return take_own(left_[static_cast<std::size_t>(thread)], run) || take_from_fullest(run);
}

// What the threads read and write is ordered by the start and the end of the call.
bool Shares::take_own(Left& left, Run& run) const {
  std::uint64_t word = left.range.load(std::memory_order_relaxed);
  while (true) {
    const Run own = unpacked_run(word);
    if (own.first >= own.last) return false;
    const std::int64_t left_over = own.last - own.first, wanted = left_.size() == 1 ? left_over : (left_over + 1) / 2;
    const std::int64_t count = std::min(wanted, row_ - own.first % row_);
    run = {own.first, own.first + count};
    if (left.range.compare_exchange_weak(word, packed_run({run.last, own.last}), std::memory_order_relaxed))
      return true;
  }
}

// A quarter of what is left: the owner is at work on more than that.
bool Shares::take_from_fullest(Run& run) {
  while (true) {
    Left* fullest = nullptr;
    Run found{0, 0};
    for (Left& left : left_) {
      const Run other = unpacked_run(left.range.load(std::memory_order_relaxed));
      if (other.last - other.first > found.last - found.first) {
        fullest = &left;
        found = other;
      }
    }
    if (fullest == nullptr) return false;
    const std::int64_t count = std::min((found.last - found.first + 3) / 4, (found.last - 1) % row_ + 1);
    run = {found.last - count, found.last};
    std::uint64_t word = packed_run(found);
    if (fullest->range.compare_exchange_strong(word, packed_run({found.first, run.first}), std::memory_order_relaxed))
      return true;
  }
}

}  // namespace maxplus::host
