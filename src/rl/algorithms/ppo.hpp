#pragma once
// Rules whose baseline is a critic: a network that says of every token what reward is to be expected from there on.
//
//   ppo   Schulman et al. 2017, arXiv 1707.06347: the clipped ratio with GAE advantages. What the paper leaves to the
//         task is as trainers of language models have it (verl, OpenRLHF): gamma 1, lambda 1, values clipped at 0.5,
//         advantages whitened over the batch's trainable tokens, mean over tokens.
//   vapo  Yue et al. 2025, arXiv 2504.05118: the same with targets of lambda 1, a lambda of the policy that grows with
//         the rollout's length, a wider clip upwards, iterations in which the value alone learns, and the likelihood
//         of correct rollouts beside the policy term.

#include "rl/algorithms/recipe.hpp"

namespace maxplus {

Recipe ppo_recipe();
Recipe vapo_recipe();

}  // namespace maxplus
