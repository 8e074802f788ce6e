#include "rl/algorithms/decoupled_ppo.hpp"

namespace maxplus {

Recipe decoupled_ppo_recipe() {
  PolicySettings s;
  s.advantage.baseline.baseline = Baseline::batch_mean;
  s.advantage.baseline.spread = Spread::batch;
  s.policy.importance.proximal = Proximal::recompute;
  s.policy.aggregation.kind = AggregationKind::token_mean;
  return {"decoupled_ppo", "Fu et al. 2025, arXiv 2505.24298", s};
}

}  // namespace maxplus
