// See the header. Eight rounds; each takes its bits from the counter-based generator.
#include "data/problem_order.hpp"

#include <fmt/format.h>

#include "base/error.hpp"

namespace maxplus {

namespace {

constexpr std::uint64_t kRounds = 8;

}  // namespace

ProblemOrder::ProblemOrder(std::uint64_t seed, Purpose purpose, std::int64_t size, Order order)
    : seed_(seed), purpose_(purpose), size_(size), order_(order) {
  MAXPLUS_REQUIRE(size >= 1 && size < (std::int64_t{1} << 62), fmt::format("an order of {} problems", size));
  while ((std::uint64_t{1} << (2 * half_bits_)) < static_cast<std::uint64_t>(size)) ++half_bits_;
}

std::uint64_t ProblemOrder::permuted(std::uint64_t epoch, std::uint64_t index) const {
  const std::uint64_t mask = (std::uint64_t{1} << half_bits_) - 1;
  do {
    std::uint64_t left = index >> half_bits_, right = index & mask;
    for (std::uint64_t round = 0; round < kRounds; ++round) {
      const RandomBlock block = random_block(seed_, purpose_, epoch, (round << 56) | right);
      const std::uint64_t mixed = (static_cast<std::uint64_t>(block.word[0]) << 32) | block.word[1];
      const std::uint64_t next = (left ^ mixed) & mask;
      left = right;
      right = next;
    }
    index = (left << half_bits_) | right;
  } while (index >= static_cast<std::uint64_t>(size_));
  return index;
}

std::int64_t ProblemOrder::at(std::int64_t position) const {
  MAXPLUS_REQUIRE(position >= 0, fmt::format("position {}", position));
  const std::int64_t epoch = position / size_, index = position % size_;
  if (order_ == Order::file) return index;
  return static_cast<std::int64_t>(permuted(static_cast<std::uint64_t>(epoch), static_cast<std::uint64_t>(index)));
}

}  // namespace maxplus
