#pragma once
// How threads take the parts of one kernel call. Each begins with a share of its own, contiguous, and takes it from the
// front in runs of half of what is left; a thread that has finished takes runs from the end of the share that has most
// left (work stealing: Blumofe and Leiserson, 1999). Processors whose time is shared with others are seldom equally
// fast, and a call ends with its slowest thread; a static cut made it wait by 2 to 6 % here.
//
// Which thread does a part never shows in the bits, since an output has one chain of its own.

#include <atomic>
#include <cstdint>
#include <vector>

namespace maxplus::host {

// First of the `parts` that thread t of `threads` gets.
inline std::int64_t part_begin(std::int64_t parts, int threads, int t) { return parts * t / threads; }

struct Run {
  std::int64_t first, last;
};

class Shares {
 public:
  explicit Shares(int threads) : left_(static_cast<std::size_t>(threads)) {}

  // Before the threads start. No run crosses a multiple of `row` parts. At most 2^31 - 1 parts.
  void deal(std::int64_t parts, std::int64_t row);
  // False: all parts are taken.
  bool take(int thread, Run& run);

 private:
  struct alignas(64) Left {
    std::atomic<std::uint64_t> range{0};  // first part in the high half, the one behind the last in the low half
  };

  bool take_own(Left& left, Run& run) const;
  bool take_from_fullest(Run& run);

  std::vector<Left> left_;
  std::int64_t row_ = 1;
};

}  // namespace maxplus::host
