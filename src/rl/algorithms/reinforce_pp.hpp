#pragma once
// REINFORCE++: Hu et al. 2025, arXiv 2501.03262. The clipped ratio with advantages whitened over the tokens of the
// batch.
//
//   reinforce_pp           A before whitening: reward at the last token minus kl_coefficient * k1 at every token,
//   summed
//                          from the token to the end (discounted with gamma, 1 here)
//   reinforce_pp_baseline  A before whitening: reward - mean of the group
//   whitening              A = (A - mean) / sqrt(variance + 1e-8), both over the batch's trainable tokens

#include "rl/algorithms/recipe.hpp"

namespace maxplus {

Recipe reinforce_pp_recipe();
Recipe reinforce_pp_baseline_recipe();

}  // namespace maxplus
