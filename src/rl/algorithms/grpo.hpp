#pragma once
// Group-relative policy optimisation and its nearest kin: the clipped ratio with rewards compared within a group.
//
//   grpo     Shao et al., "DeepSeekMath", 2024, arXiv 2402.03300: std of the group, mean of sequence means, k3
//   dr_grpo  Liu et al., "Understanding R1-Zero-like training", 2025, arXiv 2503.20783: no std, constant length
//   dapo     Yu et al., "DAPO", 2025, arXiv 2503.14476: wider upper clip, token mean, dynamic sampling, overlong
//   shaping gspo     Zheng et al., "Group sequence policy optimization", 2025, arXiv 2507.18071: ratio of the sequence

#include <cstdint>

#include "rl/algorithms/recipe.hpp"

namespace maxplus {

Recipe grpo_recipe();
Recipe dr_grpo_recipe(std::int64_t max_new_tokens);
Recipe dapo_recipe(std::int64_t max_new_tokens);
Recipe gspo_recipe();

}  // namespace maxplus
