#pragma once
// What is done to a verifier's reward before rollouts are compared. The raw one stays in Assessment::reward.

#include <cstdint>

namespace maxplus {

// DAPO's soft punishment of long answers: 0 up to limit - buffer tokens, then linear down to -1 at limit, -1 beyond.
struct OverlongShaping {
  std::int64_t limit = 0, buffer = 0;
  double penalty = 1;  // what -1 is worth in reward
};
double overlong_share(std::int64_t tokens, std::int64_t limit, std::int64_t buffer);

}  // namespace maxplus
