// Causal attention over pages on the host. A part of the work is (segment, run of kAttentionRows rows, key head); every
// part is independent, so threads take the next one as they come free and a long segment is shared by all of them.
#include "ops/attention.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "kokkos/kernel_table.hpp"
#include "kokkos/region.hpp"
#include "kokkos/simd/attention_table.hpp"
#include "kokkos/team.hpp"
#include "ops/checks.hpp"

namespace maxplus::ops {

static_assert(host::kAttentionKeyBlock == kKeyBlock && host::kAttentionPage == kPageTokens);

namespace {

std::int64_t runs_of(const QuerySegment& segment, std::int64_t group) {
  return (segment.count * group + host::kAttentionRows - 1) / host::kAttentionRows;
}

// Walks the parts in order; calls for ascending part numbers only.
class PartCursor {
 public:
  PartCursor(const QuerySegment* segments, std::int64_t group, std::int64_t kv_heads)
      : segments_(segments), group_(group), kv_heads_(kv_heads) {}

  struct Part {
    const QuerySegment* segment;
    std::int64_t run, kv_head;
  };

  // Within a segment the late runs, which see the most keys, come first.
  Part find(std::int64_t part) {
    while (part >= first_ + runs_of(segments_[segment_], group_) * kv_heads_) {
      first_ += runs_of(segments_[segment_++], group_) * kv_heads_;
    }
    const std::int64_t runs = runs_of(segments_[segment_], group_), inside = part - first_;
    return {segments_ + segment_, runs - 1 - inside / kv_heads_, inside % kv_heads_};
  }

 private:
  const QuerySegment* segments_;
  std::int64_t group_, kv_heads_, segment_ = 0, first_ = 0;
};

void check_segments(const QuerySegment* segments, std::int64_t count, std::int64_t tokens, TensorView page_table,
                    std::int64_t pages) {
  const std::int32_t* const page = page_table.as<std::int32_t>();
  for (std::int64_t s = 0; s < count; ++s) {
    const QuerySegment& q = segments[s];
    if (q.count == 0) continue;
    const std::int64_t needed = (q.first_position + q.count + kPageTokens - 1) / kPageTokens;
    MAXPLUS_REQUIRE(q.count > 0 && q.first_row >= 0 && q.first_row + q.count <= tokens && q.first_position >= 0 &&
                        q.first_page >= 0 && q.first_page + needed <= page_table.size(),
                    fmt::format("segment {}: rows {} + {} of {}, pages {} + {} of {}", s, q.first_row, q.count, tokens,
                                q.first_page, needed, page_table.size()));
    for (std::int64_t p = q.first_page; p < q.first_page + needed; ++p) {
      MAXPLUS_REQUIRE(page[p] >= 0 && page[p] < pages, fmt::format("segment {}: page {} of {}", s, page[p], pages));
    }
  }
}

}  // namespace

void write_pages(const Stream& stream, TensorView key_pages, TensorView value_pages, TensorView qkv, TensorView write,
                 std::int64_t heads, std::int64_t kv_heads, std::int64_t head_width) {
  const host::Region region("maxplus.write_pages");
  const std::int64_t tokens = qkv.extent(0), pages = key_pages.extent(0), writes = write.extent(0);
  const std::int64_t row = (heads + 2 * kv_heads) * head_width;
  check_view("write_pages qkv", qkv, DType::f32, {tokens, row});
  check_view("write_pages key_pages", key_pages, DType::f32, {pages, kv_heads, head_width, kPageTokens});
  check_view("write_pages value_pages", value_pages, DType::f32, {pages, kv_heads, kPageTokens, head_width});
  check_view("write_pages write", write, DType::i32, {writes, 3});
  const std::int32_t* const w = write.as<std::int32_t>();
  for (std::int64_t n = 0; n < writes; ++n) {
    MAXPLUS_REQUIRE(w[3 * n] >= 0 && w[3 * n] < tokens && w[3 * n + 1] >= 0 && w[3 * n + 1] < pages &&
                        w[3 * n + 2] >= 0 && w[3 * n + 2] < kPageTokens,
                    fmt::format("write {}: row {} of {}, page {} of {}, slot {}", n, w[3 * n], tokens, w[3 * n + 1],
                                pages, w[3 * n + 2]));
  }
  float* const keys = key_pages.as<float>();
  float* const values = value_pages.as<float>();
  const float* const x = qkv.as<float>();
  const std::int64_t page_size = kv_heads * head_width * kPageTokens;
  host::for_each_part(stream, writes, [&](std::int64_t n) {
    const float* const key = x + w[3 * n] * row + heads * head_width;
    const float* const value = key + kv_heads * head_width;
    float* const key_slot = keys + w[3 * n + 1] * page_size + w[3 * n + 2];
    float* const value_slot = values + w[3 * n + 1] * page_size + w[3 * n + 2] * head_width;
    for (std::int64_t i = 0; i < kv_heads * head_width; ++i) key_slot[i * kPageTokens] = key[i];
    for (std::int64_t g = 0; g < kv_heads; ++g) {
      std::copy_n(value + g * head_width, head_width, value_slot + g * head_width * kPageTokens);
    }
  });
}

void copy_pages(const Stream& stream, TensorView key_pages, TensorView value_pages, TensorView copy) {
  const host::Region region("maxplus.copy_pages");
  const std::int64_t pages = key_pages.extent(0), copies = copy.extent(0);
  check_view("copy_pages copy", copy, DType::i32, {copies, 2});
  MAXPLUS_REQUIRE(value_pages.size() == key_pages.size() && value_pages.extent(0) == pages, describe(value_pages));
  if (pages == 0 || copies == 0) return;
  const std::int64_t page_size = key_pages.size() / pages;
  const std::int32_t* const c = copy.as<std::int32_t>();
  for (std::int64_t n = 0; n < 2 * copies; ++n)
    MAXPLUS_REQUIRE(c[n] >= 0 && c[n] < pages, fmt::format("page {} of {}", c[n], pages));
  float* const keys = key_pages.as<float>();
  float* const values = value_pages.as<float>();
  host::for_each_part(stream, copies, [&](std::int64_t n) {
    const std::size_t bytes = static_cast<std::size_t>(page_size) * sizeof(float);
    std::memmove(keys + c[2 * n + 1] * page_size, keys + c[2 * n] * page_size, bytes);
    std::memmove(values + c[2 * n + 1] * page_size, values + c[2 * n] * page_size, bytes);
  });
}

std::int64_t attention_scratch(const Stream& stream, std::int64_t, std::int64_t, std::int64_t head_width) {
  return stream.threads() * host::attention_forward_scratch(head_width);
}

void attention(const Stream& stream, TensorView out, TensorView lse, TensorView qkv, TensorView key_pages,
               TensorView value_pages, TensorView page_table, const QuerySegment* segments, std::int64_t segment_count,
               TensorView scratch, std::int64_t heads, std::int64_t kv_heads, std::int64_t head_width,
               const AttentionRule& rule) {
  const host::Region region("maxplus.attention");
  const std::int64_t tokens = qkv.extent(0), pages = key_pages.extent(0), row = (heads + 2 * kv_heads) * head_width;
  check_view("attention qkv", qkv, DType::f32, {tokens, row});
  check_view("attention out", out, DType::f32, {tokens, heads * head_width});
  check_view("attention lse", lse, DType::f32, {tokens, heads});
  check_view("attention key_pages", key_pages, DType::f32, {pages, kv_heads, head_width, kPageTokens});
  check_view("attention value_pages", value_pages, DType::f32, {pages, kv_heads, kPageTokens, head_width});
  check_size("attention scratch", scratch, DType::f32, attention_scratch(stream, heads, kv_heads, head_width));
  MAXPLUS_REQUIRE(kv_heads > 0 && heads % kv_heads == 0, fmt::format("{} heads over {} key heads", heads, kv_heads));
  check_rule(rule);
  check_segments(segments, segment_count, tokens, page_table, pages);

  const host::AttentionTable& table = MAXPLUS_TABLE(attention_table);
  const std::int64_t group = heads / kv_heads, page_size = head_width * kPageTokens;
  std::int64_t parts = 0;
  for (std::int64_t s = 0; s < segment_count; ++s) parts += runs_of(segments[s], group) * kv_heads;
  float* const memory = scratch.as<float>();
  std::atomic<std::int64_t> next{0};
  host::for_each_range(stream, std::min<std::int64_t>(parts, stream.threads()),
                       [&](std::int64_t, std::int64_t, int thread) {
                         PartCursor cursor(segments, group, kv_heads);
                         for (std::int64_t part = next.fetch_add(1); part < parts; part = next.fetch_add(1)) {
                           const PartCursor::Part p = cursor.find(part);
                           const QuerySegment& q = *p.segment;
                           const std::int64_t first_row = p.run * host::kAttentionRows, head = p.kv_head * group;
                           table.forward({.query = qkv.as<float>() + q.first_row * row + head * head_width,
                                          .out = out.as<float>() + (q.first_row * heads + head) * head_width,
                                          .lse = lse.as<float>() + q.first_row * heads + head,
                                          .query_stride = row,
                                          .out_stride = heads * head_width,
                                          .lse_stride = heads,
                                          .key_pages = key_pages.as<float>() + p.kv_head * page_size,
                                          .value_pages = value_pages.as<float>() + p.kv_head * page_size,
                                          .page_stride = kv_heads * page_size,
                                          .pages = page_table.as<std::int32_t>() + q.first_page,
                                          .first_position = q.first_position,
                                          .group = group,
                                          .first_row = first_row,
                                          .rows = std::min(host::kAttentionRows, q.count * group - first_row),
                                          .width = head_width,
                                          .scale = rule.scale,
                                          .cap = rule.cap,
                                          .window = rule.window,
                                          .scratch = memory + thread * host::attention_forward_scratch(head_width)});
                         }
                       });
}

}  // namespace maxplus::ops
