#include "rl/algorithms/maxrl.hpp"

namespace maxplus {

Recipe maxrl_recipe() {
  PolicySettings s;
  s.advantage.baseline.spread = Spread::group_mean;
  s.policy.objective = Objective::log_prob;
  s.policy.aggregation = {AggregationKind::sequence_sum_constant, 1};
  const std::string reason = "advantages are divided by the group's mean reward";
  return {"maxrl",
          "arXiv 2602.02710, 2026",
          s,
          {{"std", reason}, {"scope", reason}, {"epsilon", reason}},
          {"a group whose mean reward is not above 0 has no success to average over and gives 0"}};
}

}  // namespace maxplus
