#pragma once
// Decoupled PPO: Fu et al., "AReaL", 2025, arXiv 2505.24298, objective of Hilton et al. 2021, arXiv 2110.00641. The
// clip is around the policy at the start of the iteration, and what the sampler drew with older weights is weighed by
// the constant ratio of the two (importance.hpp). Without a critic, advantages are rewards normalised over the batch.

#include "rl/algorithms/recipe.hpp"

namespace maxplus {

Recipe decoupled_ppo_recipe();

}  // namespace maxplus
