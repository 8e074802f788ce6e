// See the header.
#include "verify/response_text.hpp"

#include <span>

namespace maxplus {

std::string response_text(const Tokenizer& tokenizer, const Rollout& rollout) {
  std::span<const std::int32_t> ids = rollout.token;
  if (rollout.finish == Finish::stopped && !ids.empty()) ids = ids.first(ids.size() - 1);
  return tokenizer.decode(ids);
}

}  // namespace maxplus
