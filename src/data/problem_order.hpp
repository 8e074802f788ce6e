#pragma once
// The order in which a run takes its problems: a permutation an epoch that is a function of (seed, purpose, epoch)
// only.
//
// A Feistel network on the smallest square that holds the list, walked until the result lies inside it (Black and
// Rogaway, 2002): a permutation without a table, the same on every rank and after a resume.

#include <cstdint>

#include "base/random.hpp"

namespace maxplus {

enum class Order { shuffled, file };

class ProblemOrder {
 public:
  ProblemOrder(std::uint64_t seed, Purpose purpose, std::int64_t size, Order order);  // size >= 1

  // The index of the problem that the run takes as its `position`-th (from 0, counted over all epochs).
  std::int64_t at(std::int64_t position) const;
  std::int64_t epoch_of(std::int64_t position) const { return position / size_; }

 private:
  std::uint64_t permuted(std::uint64_t epoch, std::uint64_t index) const;

  std::uint64_t seed_;
  Purpose purpose_;
  std::int64_t size_;
  Order order_;
  std::uint32_t half_bits_ = 1;
};

}  // namespace maxplus
