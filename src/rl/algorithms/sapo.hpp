#pragma once
// SAPO: Gao et al., "Soft adaptive policy optimization", 2025, arXiv 2511.20347. A gate that closes smoothly instead of
// a clip: x = -(4 / tau) sigmoid(tau (r - 1)) A, tau = 1.0 for A > 0 and 1.05 else. Its slope by r at r = 1 is -A.

#include "rl/algorithms/recipe.hpp"
#include "rl/algorithms/token_objective.hpp"

namespace maxplus {

TokenTerm soft_gate_term(const TokenPoint& point, double tau_positive, double tau_negative);

Recipe sapo_recipe();

}  // namespace maxplus
