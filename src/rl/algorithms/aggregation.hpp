#pragma once
// How token values of a step become one number: the one place where a loss is divided by something.
//
// The policy, KL and entropy terms of a rollout are sums over its trainable tokens, divided by what denominator() says.
// It depends on the step as a whole (known before the first gradient) and on the rollout, never on a micro-batch or
// rank.

#include <cstdint>
#include <string>

#include "rl/algorithms/algorithm.hpp"

namespace maxplus {

enum class AggregationKind : std::uint8_t {
  token_mean,             // sum over the step / trainable tokens of the step
  sequence_mean,          // mean over rollouts of the mean over a rollout's trainable tokens
  sequence_sum_constant,  // mean over rollouts of (sum over trainable tokens / a constant length; 1: the plain sum)
};

struct Aggregation {
  AggregationKind kind = AggregationKind::token_mean;
  double length = 1;  // of sequence_sum_constant

  // Of a rollout with so many trainable tokens; at least 1 where a count is 0, so that empty steps give 0 and not NaN.
  double denominator(const StepStatistics& statistics, std::int64_t trainable_tokens) const;
  std::string describe() const;
};

// Trainable tokens and rollouts among those that take part.
StepStatistics count_step(const Algorithm& algorithm, std::span<const Experience* const> step);

}  // namespace maxplus
