// Gradient of attention on the host. A part of the work is (tree of segments, key head): its thread goes through the
// segments of the tree in order, parents first, and continues the chains of an ancestor's keys with each segment's
// queries.
#include <algorithm>
#include <atomic>

#include "kokkos/kernel_table.hpp"
#include "kokkos/region.hpp"
#include "kokkos/simd/attention_backward_table.hpp"
#include "kokkos/team.hpp"
#include "ops/attention.hpp"
#include "ops/checks.hpp"

namespace maxplus::ops {

namespace {

using host::AttentionPath;

std::int64_t padded_length(std::int64_t longest) { return (longest + kKeyBlock - 1) / kKeyBlock * kKeyBlock; }

std::int64_t path_scratch(std::int64_t longest, std::int64_t head_width) {
  return padded_length(longest) * (2 * head_width + 3 * host::attention_padded_width(head_width));
}

std::int64_t scratch_of_thread(std::int64_t longest, std::int64_t head_width) {
  return path_scratch(longest, head_width) + host::attention_backward_block_scratch(head_width);
}

struct Problem {
  const float *qkv, *out, *d_out, *lse;
  float* d_qkv;
  const TrieSegment* segments;
  std::int64_t segment_count, longest, heads, kv_heads, width;
  AttentionRule rule;
  const host::AttentionBackwardTable& table;

  std::int64_t row() const { return (heads + 2 * kv_heads) * width; }
  std::int64_t padded() const { return host::attention_padded_width(width); }
};

std::int64_t root_of(const TrieSegment* segments, std::int64_t segment) {
  while (segments[segment].parent >= 0) segment = segments[segment].parent;
  return segment;
}

AttentionPath path_in(float* memory, const Problem& problem) {
  const std::int64_t positions = padded_length(problem.longest);
  AttentionPath path{};
  path.key_lanes = memory;
  path.value_lanes = path.key_lanes + positions * problem.width;
  path.key = path.value_lanes + positions * problem.width;
  path.d_key = path.key + positions * problem.padded();
  path.d_value = path.d_key + positions * problem.padded();
  return path;
}

// Zeros positions [first, last), `last` the end of a block.
void clear(const AttentionPath& path, const Problem& problem, std::int64_t first, std::int64_t last) {
  for (std::int64_t p = first; p < last; ++p) {
    const std::int64_t lane = p / kPageTokens * kPageTokens * problem.width + p % kPageTokens;
    for (std::int64_t d = 0; d < problem.width; ++d) {
      path.key_lanes[lane + d * kPageTokens] = 0.0f;
      path.value_lanes[lane + d * kPageTokens] = 0.0f;
    }
    std::fill_n(path.key + p * problem.padded(), problem.padded(), 0.0f);
  }
}

enum class Direction { load, store };

// Between the gradients of keys and values of a segment's rows and their places on the path.
void move_gradients(const Problem& problem, const AttentionPath& path, const TrieSegment& segment, std::int64_t kv_head,
                    Direction direction) {
  for (std::int64_t i = 0; i < segment.count; ++i) {
    float* const d_key =
        problem.d_qkv + (segment.first_row + i) * problem.row() + (problem.heads + kv_head) * problem.width;
    float* const d_value = d_key + problem.kv_heads * problem.width;
    const std::int64_t at = (segment.first_position + i) * problem.padded();
    if (direction == Direction::load) {
      std::copy_n(d_key, problem.width, path.d_key + at);
      std::copy_n(d_value, problem.width, path.d_value + at);
    } else {
      std::copy_n(path.d_key + at, problem.width, d_key);
      std::copy_n(path.d_value + at, problem.width, d_value);
    }
  }
}

void gather(const Problem& problem, const AttentionPath& path, const TrieSegment& segment, std::int64_t kv_head) {
  const float* const key = problem.qkv + segment.first_row * problem.row() + (problem.heads + kv_head) * problem.width;
  problem.table.gather(path, key, key + problem.kv_heads * problem.width, problem.row(), segment.first_position,
                       segment.count, problem.width);
}

void segment_backward(const Problem& problem, std::int64_t segment, std::int64_t kv_head, float* memory) {
  const TrieSegment& own = problem.segments[segment];
  const AttentionPath path = path_in(memory, problem);
  const std::int64_t end = own.first_position + own.count, blocks_end = padded_length(end);
  clear(path, problem, end, blocks_end);
  std::fill_n(path.d_key, blocks_end * problem.padded(), 0.0f);
  std::fill_n(path.d_value, blocks_end * problem.padded(), 0.0f);
  gather(problem, path, own, kv_head);
  for (std::int64_t s = own.parent; s >= 0; s = problem.segments[s].parent) {
    gather(problem, path, problem.segments[s], kv_head);
    move_gradients(problem, path, problem.segments[s], kv_head, Direction::load);
  }
  const std::int64_t group = problem.heads / problem.kv_heads, head = kv_head * group;
  const std::int64_t query = own.first_row * problem.row() + head * problem.width;
  const std::int64_t out = (own.first_row * problem.heads + head) * problem.width;
  problem.table.backward({.query = problem.qkv + query,
                          .out = problem.out + out,
                          .d_out = problem.d_out + out,
                          .lse = problem.lse + own.first_row * problem.heads + head,
                          .d_query = problem.d_qkv + query,
                          .query_stride = problem.row(),
                          .out_stride = problem.heads * problem.width,
                          .lse_stride = problem.heads,
                          .path = path,
                          .first_position = own.first_position,
                          .tokens = own.count,
                          .group = group,
                          .width = problem.width,
                          .scale = problem.rule.scale,
                          .cap = problem.rule.cap,
                          .window = problem.rule.window,
                          .scratch = memory + path_scratch(problem.longest, problem.width)});
  for (std::int64_t s = segment; s >= 0; s = problem.segments[s].parent) {
    move_gradients(problem, path, problem.segments[s], kv_head, Direction::store);
  }
}

void tree_backward(const Problem& problem, std::int64_t root, std::int64_t kv_head, float* memory) {
  for (std::int64_t s = root; s < problem.segment_count; ++s) {
    if (problem.segments[s].count > 0 && root_of(problem.segments, s) == root)
      segment_backward(problem, s, kv_head, memory);
  }
}

// Segments cover all rows, and a child's positions follow its parent's.
std::int64_t check_trie(const TrieSegment* segments, std::int64_t count, std::int64_t tokens, std::int64_t longest) {
  std::int64_t covered = 0, roots = 0;
  for (std::int64_t s = 0; s < count; ++s) {
    const TrieSegment& own = segments[s];
    const bool has_parent = own.parent >= 0 && own.parent < s;
    const std::int64_t expected = has_parent ? segments[own.parent].first_position + segments[own.parent].count : 0;
    MAXPLUS_REQUIRE(
        own.parent < s && own.count >= 0 && own.first_row >= 0 && own.first_row + own.count <= tokens &&
            own.first_position == expected && own.first_position + own.count <= longest,
        fmt::format("segment {}: rows {} + {} of {}, position {} instead of {}, parent {}, longest path {}", s,
                    own.first_row, own.count, tokens, own.first_position, expected, own.parent, longest));
    covered += own.count;
    roots += own.parent < 0 ? 1 : 0;
  }
  MAXPLUS_REQUIRE(covered == tokens, fmt::format("segments hold {} of {} tokens", covered, tokens));
  return roots;
}

}  // namespace

std::int64_t attention_backward_scratch(const Stream& stream, std::int64_t longest, std::int64_t, std::int64_t,
                                        std::int64_t head_width) {
  return stream.threads() * scratch_of_thread(longest, head_width);
}

void attention_backward(const Stream& stream, TensorView d_qkv, TensorView d_out, TensorView out, TensorView lse,
                        TensorView qkv, const TrieSegment* segments, std::int64_t segment_count, std::int64_t longest,
                        TensorView scratch, std::int64_t heads, std::int64_t kv_heads, std::int64_t head_width,
                        const AttentionRule& rule) {
  const host::Region region("maxplus.attention_backward");
  const std::int64_t tokens = qkv.extent(0), row = (heads + 2 * kv_heads) * head_width;
  check_view("attention_backward qkv", qkv, DType::f32, {tokens, row});
  check_view("attention_backward d_qkv", d_qkv, DType::f32, {tokens, row});
  check_view("attention_backward out", out, DType::f32, {tokens, heads * head_width});
  check_view("attention_backward d_out", d_out, DType::f32, {tokens, heads * head_width});
  check_view("attention_backward lse", lse, DType::f32, {tokens, heads});
  check_size("attention_backward scratch", scratch, DType::f32,
             attention_backward_scratch(stream, longest, heads, kv_heads, head_width));
  MAXPLUS_REQUIRE(kv_heads > 0 && heads % kv_heads == 0, fmt::format("{} heads over {} key heads", heads, kv_heads));
  check_rule(rule);
  const std::int64_t parts = check_trie(segments, segment_count, tokens, longest) * kv_heads;
  const Problem problem{qkv.as<float>(),
                        out.as<float>(),
                        d_out.as<float>(),
                        lse.as<float>(),
                        d_qkv.as<float>(),
                        segments,
                        segment_count,
                        longest,
                        heads,
                        kv_heads,
                        head_width,
                        rule,
                        MAXPLUS_TABLE(attention_backward_table)};
  float* const memory = scratch.as<float>();
  std::atomic<std::int64_t> next{0};
  host::for_each_range(
      stream, std::min<std::int64_t>(parts, stream.threads()), [&](std::int64_t, std::int64_t, int thread) {
        std::int64_t root = -1, tree = -1;  // the tree that the cursor stands on
        for (std::int64_t part = next.fetch_add(1); part < parts; part = next.fetch_add(1)) {
          while (tree < part / kv_heads) tree += segments[++root].parent < 0 ? 1 : 0;
          tree_backward(problem, root, part % kv_heads, memory + thread * scratch_of_thread(longest, head_width));
        }
      });
}

}  // namespace maxplus::ops
