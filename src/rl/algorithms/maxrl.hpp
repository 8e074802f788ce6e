#pragma once
// MaxRL: "Maximum likelihood reinforcement learning", 2026, arXiv 2602.02710. A = (reward - mean) / mean of the group,
// which averages the score over the successes alone and so weighs hard problems by one over their success rate; x = -A
// lp.
//
// Meant for rewards that are not negative: a group whose mean is not above 0 holds no success and gives 0.

#include "rl/algorithms/recipe.hpp"

namespace maxplus {

Recipe maxrl_recipe();

}  // namespace maxplus
