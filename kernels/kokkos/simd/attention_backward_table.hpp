#pragma once
// Innermost bodies of the gradient of attention: one segment of queries against its path of keys, for one key head.

#include <cstdint>

#include "kokkos/simd/attention_table.hpp"

namespace maxplus::host {

// A path of keys and values (positions 0, 1, ...) in the layouts of the backward pass, and their gradients; positions
// up to a multiple of kAttentionKeyBlock exist and are zero.
struct AttentionPath {
  float* key_lanes;    // pages [D, 16]
  float* value_lanes;  // pages [D, 16]
  float* key;          // [positions, Dp], Dp = attention_padded_width(D)
  float* d_key;        // [positions, Dp]
  float* d_value;      // [positions, Dp]
};

// The queries of a segment, for one key head.
struct AttentionBackward {
  const float* query;  // of the segment's first token, first head of the group
  const float* out;
  const float* d_out;
  const float* lse;
  float* d_query;
  std::int64_t query_stride;  // also of d_query
  std::int64_t out_stride;    // also of d_out
  std::int64_t lse_stride;
  AttentionPath path;
  std::int64_t first_position, tokens, group, width;
  float scale;
  float cap;            // of scores; 0: none
  std::int64_t window;  // keys that a query sees; 0: all before it
  float* scratch;       // attention_backward_block_scratch(D)
};

[[gnu::always_inline]] inline std::int64_t attention_backward_block_scratch(std::int64_t width) {
  // queries, gradients of outputs, gradients of queries; probabilities, gradients of scores; lse, delta
  return kAttentionRows * (attention_padded_width(width) * 3 + kAttentionKeyBlock * 2 + 2);
}

struct AttentionBackwardTable {
  void (*backward)(const AttentionBackward& task);
  // Positions [first, first + count) of a path from rows of keys and values that are `stride` apart.
  void (*gather)(const AttentionPath& path, const float* key, const float* value, std::int64_t stride,
                 std::int64_t first, std::int64_t count, std::int64_t width);
};

namespace plain {
const AttentionBackwardTable& attention_backward_table();
}
namespace avx2 {
const AttentionBackwardTable& attention_backward_table();
}
namespace avx512 {
const AttentionBackwardTable& attention_backward_table();
}

}  // namespace maxplus::host
