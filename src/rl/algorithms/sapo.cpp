#include "rl/algorithms/sapo.hpp"

#include "base/exact_math.hpp"
#include "rl/algorithms/ratio.hpp"

namespace maxplus {

TokenTerm soft_gate_term(const TokenPoint& point, double tau_positive, double tau_negative) {
  const Ratio ratio = ratio_of(point.log_ratio);
  const double tau = point.advantage > 0 ? tau_positive : tau_negative;
  const double gate = 1 / (1 + exact_exp(-clamp_log_ratio(tau * (ratio.value - 1))));
  const double slope = log_ratio_is_free(tau * (ratio.value - 1)) ? ratio.slope : 0.0;
  return {-4 / tau * gate * point.advantage, 0, -4 * gate * (1 - gate) * slope * point.advantage, ClipSide::none};
}

Recipe sapo_recipe() {
  PolicySettings s;
  s.policy.objective = Objective::soft_gate;
  s.policy.aggregation.kind = AggregationKind::sequence_mean;
  return {"sapo", "Gao et al. 2025, arXiv 2511.20347", s};
}

}  // namespace maxplus
