#pragma once
// What a trainable token adds to the policy loss before weights and aggregation, one function a learning rule.
//
// Notation: lp the log-probability now; l the log of the ratio to the anchor (of the token, or of its sequence), r =
// exp(l); A the advantage. A rule says its value and how it changes with the token's own lp and with l; the frame
// (policy_loss.hpp) turns the latter into gradients of all tokens that l depends on.

#include <cstdint>

namespace maxplus {

enum class Objective : std::uint8_t {
  clipped_ratio,     // clipped_policy.hpp
  log_prob,          // reinforce.hpp
  truncated_weight,  // cispo.hpp
  soft_gate,         // sapo.hpp
  plain_ratio,       // m2po.hpp
  anchored,          // opmd.hpp
};

enum class ClipSide : std::uint8_t { none, low, high };

struct TokenPoint {
  double log_prob = 0;
  double log_ratio = 0;
  double advantage = 0;
  double tokens = 1;  // trainable ones of the rollout
};

struct TokenTerm {
  double value = 0;
  double by_log_prob = 0;
  double by_log_ratio = 0;
  ClipSide side = ClipSide::none;  // on which the clip took the gradient away
};

}  // namespace maxplus
