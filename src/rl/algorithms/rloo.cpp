#include "rl/algorithms/rloo.hpp"

#include "deck/tables.hpp"

namespace maxplus {

namespace {

void clip_if_a_ratio_is_given(const AlgorithmTable& table, PolicySettings& settings) {
  if (!table.ratio) return;
  settings.policy.objective = Objective::clipped_ratio;
  settings.policy.aggregation.kind = AggregationKind::sequence_mean;
}

}  // namespace

Recipe rloo_recipe() {
  PolicySettings s;
  s.advantage.baseline.baseline = Baseline::leave_one_out;
  s.advantage.baseline.spread = Spread::none;
  s.policy.objective = Objective::log_prob;
  s.policy.aggregation = {AggregationKind::sequence_sum_constant, 1};
  s.kl = {KlEstimator::k1, KlWhere::reward, 0.03};
  return {"rloo", "Ahmadian et al. 2024, arXiv 2402.14740", s, {}, {}, clip_if_a_ratio_is_given};
}

}  // namespace maxplus
