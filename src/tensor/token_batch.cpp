#include "tensor/token_batch.hpp"

#include "base/error.hpp"

namespace maxplus {

std::int32_t TokenBatch::first_position(std::int32_t segment) const {
  std::int64_t position_before = 0;
  for (std::int32_t p = parent[static_cast<std::size_t>(segment)]; p >= 0; p = parent[static_cast<std::size_t>(p)]) {
    position_before += length(p);
  }
  return static_cast<std::int32_t>(position_before);
}

std::int32_t TokenBatch::append(std::span<const std::int32_t> tokens, std::int32_t parent_segment) {
  MAXPLUS_REQUIRE(parent_segment >= -1 && parent_segment < segments(), "a parent precedes its children");
  const std::int32_t segment = segments();
  parent.push_back(parent_segment);
  const std::int32_t first = first_position(segment);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    token.push_back(tokens[i]);
    position.push_back(first + static_cast<std::int32_t>(i));
  }
  offset.push_back(this->tokens());
  return segment;
}

void TokenBatch::clear() {
  token.clear();
  position.clear();
  offset.assign(1, 0);
  parent.clear();
}

}  // namespace maxplus
