#pragma once
// Generalised advantage estimation: Schulman et al. 2015, arXiv 1506.02438, over the trainable tokens of a rollout.
//
// Notation: r reward and V value of a trainable token, in order; the tokens between them (a tool's text) are skipped,
// so that "next" is the next trainable one.
//   delta_t = r_t + gamma V_next - V_t;  A_t = delta_t + gamma lambda A_next;  return_t = A_t + V_t
// After the last one V is 0 if the answer ended by itself. A rollout that was cut at a limit has not ended: V is then
// `after_last`, the value where it would go on.

#include <cstdint>
#include <span>
#include <vector>

namespace maxplus {

struct GaeRule {
  double gamma = 1, lambda = 1;
};

struct GaeEstimate {
  std::vector<double> advantage, value_target;  // a response token each, 0 at tokens that are not trainable
};

// The three spans are of equal length; what stands at tokens that are not trainable (NaN too) has no influence.
GaeEstimate generalised_advantages(std::span<const double> reward, std::span<const double> value,
                                   std::span<const std::uint8_t> trainable, double after_last, const GaeRule& rule);

}  // namespace maxplus
