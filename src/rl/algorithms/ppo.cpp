#include "rl/algorithms/ppo.hpp"

namespace maxplus {

namespace {

PolicySettings with_critic() {
  PolicySettings s;
  s.critic.emplace();
  s.advantage.baseline.baseline = Baseline::none;
  s.advantage.baseline.spread = Spread::tokens;
  s.advantage.baseline.epsilon = 1e-8;
  s.policy.aggregation.kind = AggregationKind::token_mean;
  s.kl = {KlEstimator::none, KlWhere::reward, 0.001};
  return s;
}

}  // namespace

Recipe ppo_recipe() {
  return {"ppo",
          "Schulman et al. 2017, arXiv 1707.06347",
          with_critic(),
          {},
          {"gamma, lambda, value_clip and the whitening are those of verl and OpenRLHF; the paper leaves them to the "
           "task"}};
}

Recipe vapo_recipe() {
  PolicySettings s = with_critic();
  s.critic->lambda_length = 0.05;
  s.policy.clip_high = 0.28;
  s.policy.positive_coefficient = 0.1;
  s.value_iterations = 50;
  return {"vapo",
          "Yue et al. 2025, arXiv 2504.05118",
          s,
          {{"lambda", "its lambda grows with the rollout's length: lambda_length"}},
          {"values are clipped and advantages whitened as in ppo; the paper does not say"}};
}

}  // namespace maxplus
