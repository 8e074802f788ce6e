#include "rl/algorithms/clipped_policy.hpp"

#include <algorithm>

#include "rl/algorithms/ratio.hpp"

namespace maxplus {

TokenTerm clipped_ratio_term(const TokenPoint& point, double low, double high, const std::optional<double>& dual_clip) {
  const Ratio ratio = ratio_of(point.log_ratio);
  const double clipped = std::min(std::max(ratio.value, 1 - low), 1 + high);
  const double free_value = ratio.value * point.advantage;
  const double clipped_value = clipped * point.advantage;
  TokenTerm term{-free_value, 0, -point.advantage * ratio.slope, ClipSide::none};
  if (clipped_value < free_value) {
    term = {-clipped_value, 0, 0, ratio.value < clipped ? ClipSide::low : ClipSide::high};
  }
  if (dual_clip && point.advantage < 0 && *dual_clip * point.advantage > -term.value) {
    term = {-(*dual_clip * point.advantage), 0, 0, ClipSide::high};
  }
  return term;
}

}  // namespace maxplus
