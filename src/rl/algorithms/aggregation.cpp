#include "rl/algorithms/aggregation.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.hpp"

namespace maxplus {

double Aggregation::denominator(const StepStatistics& statistics, std::int64_t trainable_tokens) const {
  const double sequences = std::max(statistics.sequences, 1.0);
  switch (kind) {
    case AggregationKind::token_mean: return std::max(statistics.tokens, 1.0);
    case AggregationKind::sequence_mean:
      return sequences * static_cast<double>(std::max<std::int64_t>(trainable_tokens, 1));
    case AggregationKind::sequence_sum_constant: return sequences * length;
  }
  MAXPLUS_REQUIRE(false, "unknown aggregation");
}

std::string Aggregation::describe() const {
  switch (kind) {
    case AggregationKind::token_mean: return "sum over the step's trainable tokens / their number";
    case AggregationKind::sequence_mean: return "mean over rollouts of the mean over a rollout's trainable tokens";
    case AggregationKind::sequence_sum_constant:
      return fmt::format("mean over rollouts of (sum over a rollout's trainable tokens / {})", length);
  }
  MAXPLUS_REQUIRE(false, "unknown aggregation");
}

StepStatistics count_step(const Algorithm& algorithm, std::span<const Experience* const> step) {
  StepStatistics statistics;
  for (const Experience* experience : step) {
    if (!algorithm.takes_part(*experience)) continue;
    statistics.sequences += 1;
    double tokens = 0;
    for (const std::uint8_t trainable : experience->rollout.trainable) tokens += trainable != 0 ? 1 : 0;
    statistics.tokens += tokens;
    if (experience->assessment.verdict == Verdict::correct) statistics.positive_tokens += tokens;
  }
  return statistics;
}

}  // namespace maxplus
