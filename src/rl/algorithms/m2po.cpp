#include "rl/algorithms/m2po.hpp"

#include <algorithm>
#include <limits>

#include "base/error.hpp"
#include "rl/algorithms/ratio.hpp"
#include "rl/sample.hpp"

namespace maxplus {

TokenTerm plain_ratio_term(const TokenPoint& point) {
  const Ratio ratio = ratio_of(point.log_ratio);
  return {-ratio.value * point.advantage, 0, -ratio.slope * point.advantage, ClipSide::none};
}

double largest_square_within(std::vector<double> squares, double threshold) {
  std::sort(squares.begin(), squares.end());
  double sum = 0, largest = 0;
  for (std::size_t i = 0; i < squares.size();) {
    const double square = squares[i];
    for (; i < squares.size() && squares[i] == square; ++i) sum += square;
    if (sum > threshold * static_cast<double>(i)) return largest;
    largest = square;
  }
  return std::numeric_limits<double>::infinity();
}

double largest_square_within(std::span<const Experience* const> step, double threshold) {
  std::vector<double> squares;
  for (const Experience* experience : step) {
    const std::vector<float>&now = experience->proximal_log_prob, &drawn = experience->rollout.log_prob;
    MAXPLUS_REQUIRE(now.size() == drawn.size(), "the proximal policy's log-probabilities are missing");
    for (std::size_t t = 0; t < drawn.size(); ++t) {
      if (experience->rollout.trainable[t] == 0) continue;
      const double difference = static_cast<double>(now[t]) - static_cast<double>(drawn[t]);
      squares.push_back(difference * difference);
    }
  }
  return largest_square_within(std::move(squares), threshold);
}

Recipe m2po_recipe() {
  PolicySettings s;
  s.policy.objective = Objective::plain_ratio;
  s.policy.importance.proximal = Proximal::recompute;
  s.policy.importance.mask = ImportanceMask::second_moment;
  s.policy.aggregation.kind = AggregationKind::token_mean;
  const std::string masked = "tokens are chosen by the second moment, with m2_threshold";
  return {"m2po",
          "Zheng et al. 2025, arXiv 2510.01161",
          s,
          {{"proximal", "the mask needs the recomputed policy, and the ratio is to the one that drew the token"},
           {"truncated_importance_cap", masked},
           {"importance_mask", masked}},
          {"differs from the paper of m2po: tokens are chosen once an iteration, not at every update"}};
}

}  // namespace maxplus
