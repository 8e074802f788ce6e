#pragma once
// Leave-one-out REINFORCE: Ahmadian et al., "Back to basics", 2024, arXiv 2402.14740.
//
// A = reward - mean reward of the group's other members; x = -A lp, summed over a rollout, averaged over rollouts. With
// the key `ratio` (sequence_sum, as TRL does, or another) the objective is the clipped ratio of that level instead; a
// product over the sequence then counts once a rollout, as the mean over its tokens of one value.

#include "rl/algorithms/recipe.hpp"

namespace maxplus {

Recipe rloo_recipe();

}  // namespace maxplus
