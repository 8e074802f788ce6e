#pragma once
// Which rank draws what, and in which order ([generation] dispatch = "longest_first").
//
// What is drawn does not depend on it; when the last rollout ends does: a long answer that begins last leaves the other
// rows and ranks without work. So requests are dealt by expected work, the largest first, each to the rank that has the
// least so far (Graham, 1969: on m ranks at most 4/3 - 1/(3m) times the best makespan), and a rank begins them in that
// order.
//
// What is expected of a rollout is the length of earlier ones of its problem: half the mean of the newest group, half
// what was expected before. Lengths drift with the weights, and a mean over everything would follow them too late. Of a
// problem that was never drawn it is the same over iterations.

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "deck/tables.hpp"
#include "rl/sample.hpp"

namespace maxplus {

bool dispatches_longest_first(const Deck& deck);

class LengthsSeen {
 public:
  // Of one iteration, in rollout order: the same list on every rank, so that all expect the same.
  void add(std::span<const Experience> drawn);
  double expected(std::int64_t problem) const;  // tokens of a rollout; 0: nothing was ever seen

  std::vector<std::byte> pack() const;  // of nothing seen: empty
  // Throws Error(protocol) on damage.
  static LengthsSeen unpack(std::span<const std::byte> bytes);
  bool operator==(const LengthsSeen&) const = default;

 private:
  double overall_ = 0;
  std::map<std::int64_t, double> of_problem_;
};

// Tokens that a rollout is expected to get in one call of the generator if it has `had`; budget 0: no limit.
double expected_tokens(double expected_length, std::int64_t had, std::int64_t budget);

// The items of a rank, the largest first. Of equals the first item comes first, of ranks with equal work the first
// rank; items that are all alike are dealt in turns.
std::vector<std::int64_t> dealt_longest_first(std::span<const double> work, int rank, int ranks);

}  // namespace maxplus
