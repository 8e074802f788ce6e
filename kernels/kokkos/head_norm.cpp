// Norms of query and key heads on the host: the heads of a token stand one after the other, so they are rows of the
// same innermost bodies as those of the residual stream.
#include <algorithm>

#include "kokkos/kernel_table.hpp"
#include "kokkos/region.hpp"
#include "kokkos/simd/norm_table.hpp"
#include "kokkos/team.hpp"
#include "ops/checks.hpp"
#include "ops/norm.hpp"

namespace maxplus::ops {

namespace {

constexpr std::int64_t kLaneGroup = 16;  // elements of one set of lanes

struct HeadShape {
  std::int64_t tokens, heads, kv_heads, width;
  std::int64_t row() const { return (heads + 2 * kv_heads) * width; }
  std::int64_t turned() const { return heads + kv_heads; }
};

void check_heads(const HeadShape& s, TensorView qkv, TensorView raw, TensorView inverse_rms, TensorView query_weight,
                 TensorView key_weight) {
  check_view("head_norm qkv", qkv, DType::f32, {s.tokens, s.row()});
  check_view("head_norm raw", raw, DType::f32, {s.tokens, s.turned() * s.width});
  check_view("head_norm inverse_rms", inverse_rms, DType::f32, {s.tokens, s.turned()});
  check_view("head_norm query_weight", query_weight, DType::f32, {s.width});
  check_view("head_norm key_weight", key_weight, DType::f32, {s.width});
}

}  // namespace

void head_norm(const Stream& stream, TensorView qkv, TensorView raw, TensorView inverse_rms, TensorView query_weight,
               TensorView key_weight, std::int64_t heads, std::int64_t kv_heads, std::int64_t head_width,
               float epsilon) {
  const host::Region region("maxplus.head_norm");
  const HeadShape s{qkv.extent(0), heads, kv_heads, head_width};
  check_heads(s, qkv, raw, inverse_rms, query_weight, key_weight);
  const host::NormTable& table = MAXPLUS_TABLE(norm_table);
  float* const x = qkv.as<float>();
  float* const kept = raw.as<float>();
  float* const r = inverse_rms.as<float>();
  const float* const query = query_weight.as<float>();
  const float* const key = key_weight.as<float>();
  const std::int64_t queries = heads * head_width, turned = s.turned() * head_width;
  host::for_each_part(stream, s.tokens, [&](std::int64_t t) {
    float* const out = x + t * s.row();
    float* const in = kept + t * turned;
    float* const rms = r + t * s.turned();
    std::copy_n(out, turned, in);
    table.forward(out, rms, in, query, heads, head_width, epsilon);
    table.forward(out + queries, rms + heads, in + queries, key, kv_heads, head_width, epsilon);
  });
}

void head_norm_backward(const Stream& stream, TensorView d_qkv, TensorView d_query_weight, TensorView d_key_weight,
                        TensorView raw, TensorView inverse_rms, TensorView query_weight, TensorView key_weight,
                        std::int64_t heads, std::int64_t kv_heads, std::int64_t head_width) {
  const host::Region region("maxplus.head_norm_backward");
  const HeadShape s{d_qkv.extent(0), heads, kv_heads, head_width};
  check_heads(s, d_qkv, raw, inverse_rms, query_weight, key_weight);
  check_view("head_norm_backward d_query_weight", d_query_weight, DType::f32, {head_width});
  check_view("head_norm_backward d_key_weight", d_key_weight, DType::f32, {head_width});
  const host::NormTable& table = MAXPLUS_TABLE(norm_table);
  float* const d = d_qkv.as<float>();
  float* const d_query = d_query_weight.as<float>();
  float* const d_key = d_key_weight.as<float>();
  const float* const in = raw.as<float>();
  const float* const r = inverse_rms.as<float>();
  const float* const query = query_weight.as<float>();
  const float* const key = key_weight.as<float>();
  const std::int64_t queries = heads * head_width, turned = s.turned() * head_width;
  host::for_each_range(
      stream, (head_width + kLaneGroup - 1) / kLaneGroup, [&](std::int64_t first, std::int64_t last, int) {
        const std::int64_t begin = first * kLaneGroup, end = std::min(last * kLaneGroup, head_width);
        for (std::int64_t t = 0; t < s.tokens; ++t) {
          const float* const d_row = d + t * s.row();
          const float* const row = in + t * turned;
          const float* const rms = r + t * s.turned();
          table.weight_gradient(d_query, d_row, row, rms, heads, head_width, begin, end);
          table.weight_gradient(d_key, d_row + queries, row + queries, rms + heads, kv_heads, head_width, begin, end);
        }
      });
  host::for_each_part(stream, s.tokens, [&](std::int64_t t) {
    float* const row = d + t * s.row();
    const float* const before = in + t * turned;
    const float* const rms = r + t * s.turned();
    table.backward_alone(row, row, before, rms, query, heads, head_width);
    table.backward_alone(row + queries, row + queries, before + queries, rms + heads, key, kv_heads, head_width);
  });
}

}  // namespace maxplus::ops
