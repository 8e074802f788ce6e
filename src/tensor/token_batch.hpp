#pragma once
// The one input of a network: a flat list of tokens cut into segments that form a trie. No padding exists.
//
// A segment with parent p continues the sequence that ends with segment p (all of p: children begin after its last
// token), so a prompt that a group shares stands once. Parents precede their children; segments may be empty.
// Everywhere, a value "of token t" describes the drawing of token t from its predecessors.

#include <cstdint>
#include <span>
#include <vector>

namespace maxplus {

struct TokenBatch {
  std::vector<std::int32_t> token;
  std::vector<std::int32_t> position;   // in the whole sequence; 0 at the start of a segment without parent
  std::vector<std::int64_t> offset{0};  // segment s is [offset[s], offset[s + 1])
  std::vector<std::int32_t> parent;     // a segment, or -1

  std::int64_t tokens() const { return static_cast<std::int64_t>(token.size()); }
  std::int32_t segments() const { return static_cast<std::int32_t>(parent.size()); }
  std::int64_t length(std::int32_t segment) const {
    return offset[static_cast<std::size_t>(segment) + 1] - offset[static_cast<std::size_t>(segment)];
  }
  // Position of the first token of a segment, which exists for an empty one too.
  std::int32_t first_position(std::int32_t segment) const;
  // Appends a segment and returns its number.
  std::int32_t append(std::span<const std::int32_t> tokens, std::int32_t parent_segment);
  void clear();
};

}  // namespace maxplus
