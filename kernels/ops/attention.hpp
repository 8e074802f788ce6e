#pragma once
// Causal attention over paged keys and values, one code for decoding, scoring and training.
//
// Keys and values stand in pages of kPageTokens positions: page p of key_pages is [G, D, 16] (positions innermost),
// of value_pages [G, 16, D]. A sequence is a list of pages; position t is slot t % 16 of its page t / 16. Pages of a
// shared prompt are listed by several sequences; a page that straddles prompt and answer is copied for each child.
//
// For a query at position t and head h (key head h / (H/G)): the keys it sees, 0..t or the last `window` of them, are
// taken in blocks of kKeyBlock aligned to absolute positions. In a block, score_j = scale * (chain over d of q_d k_jd),
// with a soft cap then cap * tanh(score_j * (1 / cap)); m' = max(m, max score); the running sum l and output o are
// scaled by exp(m - m'); p_j = exp(score_j - m'); l += sum of p_j by lanes (lane = position % 16); o_d continues its
// chain, o_d = fma(p_j, v_jd, o_d), j ascending. At the end out = o / l and lse = m + log l.
// Keys behind t or before the window are left out, never multiplied, and a block without a visible key does nothing; so
// the result depends on positions alone (DESIGN: same bits whether a token is drawn, scored or trained on).

#include <cstdint>

#include "device/stream.hpp"
#include "tensor/tensor_view.hpp"

namespace maxplus::ops {

inline constexpr std::int64_t kPageTokens = 16;
inline constexpr std::int64_t kKeyBlock = 64;

// From the product of a query and a key to a score, and who is seen.
struct AttentionRule {
  float scale;
  float cap = 0;            // soft cap of scores (Gemma Team, 2024); 0: none
  std::int64_t window = 0;  // keys that a query sees, itself included; 0: all before it
};
inline void check_rule(const AttentionRule& rule) {
  MAXPLUS_REQUIRE(rule.cap >= 0 && rule.window >= 0, "a soft cap and a window are 0 or above");
}

// Copies keys and values (as they stand in qkv [T, (H + 2 G) * D], keys already turned) into pages.
// write [W, 3] i32: (token row, page, slot), any number a token.
void write_pages(const Stream& stream, TensorView key_pages, TensorView value_pages, TensorView qkv, TensorView write,
                 std::int64_t heads, std::int64_t kv_heads, std::int64_t head_width);

// Copies whole pages: copy [N, 2] i32: (from, to).
void copy_pages(const Stream& stream, TensorView key_pages, TensorView value_pages, TensorView copy);

// The queries of a segment: rows [first_row, first_row + count) with positions first_position...; its pages are
// page_table[first_page ...].
struct QuerySegment {
  std::int32_t first_row, count, first_position, first_page;
};

// out [T, H * D]; lse [T, H]; qkv [T, (H + 2 G) * D] (queries are read); page_table [P] i32; segments on the host.
// scratch: attention_scratch(...) f32 elements.
std::int64_t attention_scratch(const Stream& stream, std::int64_t heads, std::int64_t kv_heads,
                               std::int64_t head_width);
void attention(const Stream& stream, TensorView out, TensorView lse, TensorView qkv, TensorView key_pages,
               TensorView value_pages, TensorView page_table, const QuerySegment* segments, std::int64_t segment_count,
               TensorView scratch, std::int64_t heads, std::int64_t kv_heads, std::int64_t head_width,
               const AttentionRule& rule);

// A segment of a packed batch with its parent (-1: none), as in TokenBatch.
struct TrieSegment {
  std::int32_t first_row, count, first_position, parent;
};

// d_qkv [T, (H + 2 G) * D] overwritten (gradients of turned queries and keys, and of values).
// d_out, out [T, H * D]; lse [T, H]; qkv as in forward. Segments of one tree (a root and all that continue it) are
// worked off by one thread a key head, children in order, so a parent's keys receive their children's parts in that
// order; a query's own gradient is a chain over keys ascending, a key's a chain over queries ascending (heads of a
// group within a query), which each child continues. Segments hold all T rows; a root begins at position 0.
// longest: the longest path in tokens. scratch: attention_backward_scratch(...) f32 elements.
std::int64_t attention_backward_scratch(const Stream& stream, std::int64_t longest, std::int64_t heads,
                                        std::int64_t kv_heads, std::int64_t head_width);
void attention_backward(const Stream& stream, TensorView d_qkv, TensorView d_out, TensorView out, TensorView lse,
                        TensorView qkv, const TrieSegment* segments, std::int64_t segment_count, std::int64_t longest,
                        TensorView scratch, std::int64_t heads, std::int64_t kv_heads, std::int64_t head_width,
                        const AttentionRule& rule);

}  // namespace maxplus::ops
