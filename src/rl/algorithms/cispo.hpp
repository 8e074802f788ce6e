#pragma once
// CISPO: MiniMax, "MiniMax-M1", 2025, arXiv 2506.13585. x = -W A lp with W = clip(r, 1 - clip_low, 1 + clip_high) held
// constant, so that no token loses its gradient; no clip_low is no lower bound.
//
// The paper does not print its bound; 1 + clip_high = 5 is that of Khatri et al., "ScaleRL", 2025, arXiv 2510.13786.

#include <optional>

#include "rl/algorithms/recipe.hpp"
#include "rl/algorithms/token_objective.hpp"

namespace maxplus {

TokenTerm truncated_weight_term(const TokenPoint& point, const std::optional<double>& low, double high);

Recipe cispo_recipe();

}  // namespace maxplus
