#pragma once
// Draws for one problem or demonstration, one after the other: each is a function of seed, purpose, item and its
// number.

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/random.hpp"

namespace maxplus {

class Draws {
 public:
  // `first`: the number of the first draw, so that attempts at one item share none.
  Draws(std::uint64_t seed, Purpose purpose, std::uint64_t item, std::uint64_t first)
      : seed_(seed), purpose_(purpose), item_(item), next_(first) {}
  std::size_t below(std::size_t n) {
    return static_cast<std::size_t>(uniform_below(n, seed_, purpose_, item_, next_++));
  }
  std::int64_t between(std::int64_t low, std::int64_t high) {  // both may come
    return low + static_cast<std::int64_t>(below(static_cast<std::size_t>(high - low + 1)));
  }
  template <class T>
  void shuffle(std::vector<T>& list) {
    for (std::size_t i = list.size(); i > 1; --i) std::swap(list[i - 1], list[below(i)]);
  }
  double unit() { return uniform_double(seed_, purpose_, item_, next_++); }

 private:
  std::uint64_t seed_;
  Purpose purpose_;
  std::uint64_t item_, next_;
};

}  // namespace maxplus
