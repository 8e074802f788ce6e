#include "rl/algorithms/cispo.hpp"

#include <algorithm>

#include "rl/algorithms/ratio.hpp"

namespace maxplus {

TokenTerm truncated_weight_term(const TokenPoint& point, const std::optional<double>& low, double high) {
  double weight = ratio_of(point.log_ratio).value;
  if (low) weight = std::max(weight, 1 - *low);
  weight = std::min(weight, 1 + high);
  return {-weight * point.advantage * point.log_prob, -weight * point.advantage, 0, ClipSide::none};
}

Recipe cispo_recipe() {
  PolicySettings s;
  s.policy.objective = Objective::truncated_weight;
  s.policy.clip_low.reset();
  s.policy.clip_high = 4;
  s.policy.aggregation.kind = AggregationKind::token_mean;
  return {"cispo",
          "MiniMax 2025, arXiv 2506.13585",
          s,
          {{"dual_clip", "no token loses its gradient, so there is nothing to bound a second time"}},
          {"the paper of cispo does not print its bound; 1 + clip_high = 5 is that of Khatri et al. 2025, arXiv "
           "2510.13786"}};
}

}  // namespace maxplus
