#include "rl/algorithms/reinforce_pp.hpp"

namespace maxplus {

namespace {

PolicySettings whitened() {
  PolicySettings s;
  s.advantage.baseline.spread = Spread::tokens;
  s.advantage.baseline.degrees_lost = 0;
  s.advantage.baseline.epsilon = 1e-8;
  s.policy.aggregation.kind = AggregationKind::token_mean;
  return s;
}

}  // namespace

Recipe reinforce_pp_recipe() {
  PolicySettings s = whitened();
  s.advantage.baseline.baseline = Baseline::none;
  s.advantage.kl = KlPlacement::tokens;
  s.kl = {KlEstimator::k1, KlWhere::reward, 0.01};
  return {"reinforce_pp", "Hu et al. 2025, arXiv 2501.03262", s};
}

Recipe reinforce_pp_baseline_recipe() {
  PolicySettings s = whitened();
  s.kl = {KlEstimator::k2, KlWhere::loss, 0.01};
  return {"reinforce_pp_baseline",
          "Hu et al. 2025, arXiv 2501.03262",
          s,
          {},
          {"a group of equal rewards gives exactly 0; whitened, the paper's would be -mean / std of the batch"}};
}

}  // namespace maxplus
