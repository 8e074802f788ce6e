#pragma once
// Which of a group's rollouts count where more are drawn than are wanted: those with the fewest tokens, of equals those
// that come first. Never a clock: a rollout that is drawn later than others may still be shorter.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "rl/sample.hpp"

namespace maxplus {

inline constexpr std::int64_t kNotYet = std::numeric_limits<std::int64_t>::max();

// Whether it was drawn to its own end.
bool has_ended(const Rollout& rollout);

// Tokens of the last that counts, and its place in the group; nothing before `wanted` have ended. One that has not
// ended and would come behind it with its next token cannot count any more.
std::optional<std::pair<std::int64_t, std::size_t>> last_that_counts(std::span<const Rollout> group,
                                                                     std::int64_t wanted);

// A group is complete at the tokens of the last that counts when all have ended: bounds of that by what was drawn.
struct CompleteAt {
  std::int64_t at_least = 0, at_most = kNotYet;
};
CompleteAt complete_at(std::span<const Rollout> group, std::int64_t wanted);

}  // namespace maxplus
