#pragma once
// The clipped ratio of proximal policy optimisation (Schulman et al. 2017, arXiv 1707.06347), with its second clip for
// negative advantages (Ye et al. 2019, arXiv 1912.09729):
//   x = -min(r A, clip(r, 1 - low, 1 + high) A);  with dual_clip c and A < 0: x = -max(that min, c A)

#include <optional>

#include "rl/algorithms/token_objective.hpp"

namespace maxplus {

TokenTerm clipped_ratio_term(const TokenPoint& point, double low, double high, const std::optional<double>& dual_clip);

}  // namespace maxplus
