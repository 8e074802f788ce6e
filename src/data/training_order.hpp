#pragma once
// Which problem a run takes as its n-th: a function of seed and n, so there is nothing to save, and all ranks agree.
//
// Of one source: every problem once an epoch, shuffled anew in each, or as the file has them, or easy ones first. Of
// several, laid end to end: of every kMixBlock problems in a row each source gives its share, in an order that is
// shuffled anew for each such block, and each source has epochs of its own.

#include <cstdint>
#include <memory>
#include <vector>

#include "data/problem_order.hpp"
#include "data/problem_source.hpp"

namespace maxplus {

inline constexpr std::int64_t kMixBlock = 1000;

// Shares of kMixBlock for weights above 0, by the largest remainder; a share of 0 is possible.
std::vector<std::int64_t> shares_of_block(const std::vector<double>& weights);

// Easy problems first, equals in their order: of a source whose problems all say a number "difficulty". Throws
// Error(ExitCode::data) with the places of the first ones that do not.
std::vector<std::int64_t> easy_first(const ProblemSource& problems);

class TrainingOrder {
 public:
  struct Part {
    std::int64_t size = 0;
    std::int64_t share = kMixBlock;
    std::vector<std::int64_t> ranking;  // easy_first; empty: no curriculum
  };
  // `window`: of a curriculum, so many neighbours in difficulty are shuffled.
  TrainingOrder(std::uint64_t seed, Order order, std::int64_t window, std::vector<Part> parts);

  // The index of the problem that the run takes as its `position`-th (from 0), over all parts end to end.
  std::int64_t at(std::int64_t position) const;

 private:
  struct Place {
    std::size_t part = 0;
    std::int64_t position = 0;  // within the part, over all its epochs
  };
  Place place_of(std::int64_t position) const;
  std::int64_t within(std::size_t part, std::int64_t position) const;

  std::uint64_t seed_;
  Order order_;
  std::int64_t window_;
  std::vector<Part> parts_;
  std::vector<std::size_t> part_of_slot_;  // of kMixBlock slots, before they are shuffled
};

}  // namespace maxplus
