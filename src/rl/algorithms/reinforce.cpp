#include "rl/algorithms/reinforce.hpp"

namespace maxplus {

TokenTerm log_prob_term(const TokenPoint& point) {
  return {-point.advantage * point.log_prob, -point.advantage, 0, ClipSide::none};
}

namespace {

PolicySettings score_function() {
  PolicySettings s;
  s.advantage.baseline.spread = Spread::none;
  s.policy.objective = Objective::log_prob;
  s.policy.aggregation = {AggregationKind::sequence_sum_constant, 1};
  s.kl.where = KlWhere::reward;
  return s;
}

}  // namespace

Recipe reinforce_recipe() {
  PolicySettings s = score_function();
  s.advantage.baseline.baseline = Baseline::batch_mean;
  return {"reinforce",
          "Williams 1992",
          s,
          {},
          {"the baseline of reinforce is open in its paper; here the mean reward of the batch"}};
}

Recipe remax_recipe() {
  PolicySettings s = score_function();
  s.advantage.baseline.baseline = Baseline::greedy_reward;
  const std::string reason = "rewards are compared with that of the greedy answer, not with each other";
  return {"remax", "Li et al. 2023, arXiv 2310.10505", s, {{"std", reason}, {"scope", reason}, {"epsilon", reason}}};
}

}  // namespace maxplus
