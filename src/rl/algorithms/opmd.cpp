#include "rl/algorithms/opmd.hpp"

namespace maxplus {

TokenTerm anchored_term(const TokenPoint& point, double tau) {
  return {-point.advantage * point.log_prob + 0.5 * tau * point.log_ratio * point.log_ratio / point.tokens,
          -point.advantage, tau * point.log_ratio / point.tokens, ClipSide::none};
}

Recipe opmd_recipe() {
  PolicySettings s;
  s.advantage.baseline.spread = Spread::none;
  s.policy.objective = Objective::anchored;
  s.policy.ratio = RatioLevel::sequence_sum;
  s.policy.aggregation = {AggregationKind::sequence_sum_constant, 1};
  const std::string anchored = "the squared log-ratio is that of the whole rollout to the policy that drew it";
  return {
      "opmd",
      "Kimi Team 2025, arXiv 2501.12599",
      s,
      {{"ratio", anchored},
       {"proximal", anchored},
       {"truncated_importance_cap", anchored},
       {"importance_mask", anchored},
       {"aggregation", "a rollout's tokens are summed, as its log-probability is; aggregation_length divides them"}},
      {"the paper of opmd gives no tau; here opmd_tau",
       "differs from the paper of opmd: moments of the optimizer are kept over iterations",
       "differs from the paper of opmd: no length reward"}};
}

}  // namespace maxplus
