#pragma once
// The score-function estimator without a ratio: x = -A lp.
//
//   reinforce  Williams, "Simple statistical gradient-following algorithms", 1992: A = reward - mean of the batch
//   remax      Li et al., "ReMax", 2023, arXiv 2310.10505: A = reward - reward of the greedy answer to the problem
//
// Both sum over the tokens of a rollout and average over rollouts (sequence_sum_constant with length 1), which is the
// gradient of the mean reward. Advantages are not divided by anything.

#include "rl/algorithms/recipe.hpp"
#include "rl/algorithms/token_objective.hpp"

namespace maxplus {

TokenTerm log_prob_term(const TokenPoint& point);

Recipe reinforce_recipe();
Recipe remax_recipe();

}  // namespace maxplus
