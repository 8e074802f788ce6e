#pragma once
// Advantages of outcome rewards: each rollout against a baseline of its group (or of the batch), one implementation for
// every estimator of that kind.
//
// Notation: r the rewards, K members of a group that count. Mean and spread are taken in two passes in double, in the
// order given. Whether rewards are equal is decided by comparing them, because a mean may differ from its equal terms
// in the last bit; equal rewards, and a group with one counting member, give exactly 0.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace maxplus {

enum class Baseline : std::uint8_t {
  none,           // r
  group_mean,     // r - mean of the group
  leave_one_out,  // r - mean of the group's other members
  batch_mean,     // r - mean of the whole batch
  greedy_reward,  // r - reward of the problem's greedy answer, which the caller has taken away
};

enum class Spread : std::uint8_t {
  none,
  group,       // the deviation is divided by (std + epsilon) of the group,
  batch,       // of the batch,
  group_mean,  // by the group's mean; 0 where that is not above 0
  tokens,      // whitened over the batch's tokens afterwards (advantage.hpp), epsilon inside the root
};

struct BaselineRule {
  Baseline baseline = Baseline::group_mean;
  Spread spread = Spread::group;
  int degrees_lost = 1;  // 1: divide the squares by n - 1, 0: by n
  double epsilon = 1e-4;

  std::string describe() const;
};

// One advantage a rollout. `group` holds ids (members need not be neighbours); rollouts with counts = 0 are left out of
// every statistic and get 0. The three spans are of equal length.
std::vector<double> group_advantages(std::span<const double> reward, std::span<const std::int64_t> group,
                                     std::span<const std::uint8_t> counts, const BaselineRule& rule);

}  // namespace maxplus
