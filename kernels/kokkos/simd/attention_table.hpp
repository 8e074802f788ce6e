#pragma once
// Innermost body of attention. Rows are (query, head of the group), heads of a group within a query, so that all rows
// of a block share the keys and values they read. (Inlined always: this header is read by files of several instruction
// sets.)

#include <cstdint>

namespace maxplus::host {

// The most rows one call of `forward` takes, and the rows that the backward pass holds at once: a multiple of every
// tile, small enough that queries, outputs and probabilities stay in the first and second cache.
inline constexpr std::int64_t kAttentionRows = 48;
inline constexpr std::int64_t kAttentionKeyBlock = 64;
inline constexpr std::int64_t kAttentionPage = 16;

[[gnu::always_inline]] inline std::int64_t attention_padded_width(std::int64_t width) { return (width + 15) / 16 * 16; }

// Rows [first_row, first_row + rows) of the queries of one segment, for one key head.
struct AttentionForward {
  const float* query;         // of the segment's first token, first head of the group
  float* out;                 // the same
  float* lse;                 // the same
  std::int64_t query_stride;  // from token to token
  std::int64_t out_stride;
  std::int64_t lse_stride;
  const float* key_pages;    // of page 0, of the key head: [D, 16] each
  const float* value_pages;  // [16, D] each
  std::int64_t page_stride;
  const std::int32_t* pages;    // of the sequence
  std::int64_t first_position;  // of the segment's first token
  std::int64_t group;           // heads of the group
  std::int64_t first_row, rows;
  std::int64_t width;  // D
  float scale;
  float cap;            // of scores; 0: none
  std::int64_t window;  // keys that a query sees; 0: all before it
  float* scratch;       // attention_forward_scratch(D)
};

[[gnu::always_inline]] inline std::int64_t attention_forward_scratch(std::int64_t width) {
  // queries, outputs; probabilities of a block; maximum, sum, factor (16 more, as it is worked on by lanes)
  return kAttentionRows * (attention_padded_width(width) * 2 + kAttentionKeyBlock + 3) + 16;
}

struct AttentionTable {
  void (*forward)(const AttentionForward& task);
};

namespace plain {
const AttentionTable& attention_table();
}
namespace avx2 {
const AttentionTable& attention_table();
}
namespace avx512 {
const AttentionTable& attention_table();
}

}  // namespace maxplus::host
