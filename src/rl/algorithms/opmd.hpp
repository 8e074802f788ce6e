#pragma once
// Online policy mirror descent of Kimi k1.5: Kimi Team, 2025, arXiv 2501.12599. A = reward - mean of the group; a
// rollout adds
//   -A sum lp + tau / 2 (sum of lp - old)^2
// so that the policy of the iteration, which drew the rollouts, is the anchor and no [reference] is needed. The paper
// gives no tau.

#include "rl/algorithms/recipe.hpp"
#include "rl/algorithms/token_objective.hpp"

namespace maxplus {

// l is the sum over the rollout; its square is shared out evenly among the rollout's tokens.
TokenTerm anchored_term(const TokenPoint& point, double tau);

Recipe opmd_recipe();

}  // namespace maxplus
