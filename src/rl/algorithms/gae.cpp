#include "rl/algorithms/gae.hpp"

#include "base/error.hpp"

namespace maxplus {

GaeEstimate generalised_advantages(std::span<const double> reward, std::span<const double> value,
                                   std::span<const std::uint8_t> trainable, double after_last, const GaeRule& rule) {
  const std::size_t tokens = trainable.size();
  MAXPLUS_REQUIRE(reward.size() == tokens && value.size() == tokens, "one reward and one value a response token");
  GaeEstimate estimate{std::vector<double>(tokens, 0.0), std::vector<double>(tokens, 0.0)};
  double next_value = after_last, next_advantage = 0;
  for (std::size_t t = tokens; t-- > 0;) {
    if (trainable[t] == 0) continue;
    const double delta = reward[t] + rule.gamma * next_value - value[t];
    next_advantage = delta + rule.gamma * rule.lambda * next_advantage;
    next_value = value[t];
    estimate.advantage[t] = next_advantage;
    estimate.value_target[t] = next_advantage + value[t];
  }
  return estimate;
}

}  // namespace maxplus
