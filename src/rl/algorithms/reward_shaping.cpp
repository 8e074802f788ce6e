#include "rl/algorithms/reward_shaping.hpp"

namespace maxplus {

double overlong_share(std::int64_t tokens, std::int64_t limit, std::int64_t buffer) {
  if (tokens <= limit - buffer) return 0;
  if (tokens > limit) return -1;
  return static_cast<double>(limit - buffer - tokens) / static_cast<double>(buffer);
}

}  // namespace maxplus
