// RMS normalisation on the host: rows are cut over the team; the weight gradient is cut by channels.
#include "ops/norm.hpp"

#include <algorithm>

#include "kokkos/kernel_table.hpp"
#include "kokkos/region.hpp"
#include "kokkos/simd/norm_table.hpp"
#include "kokkos/team.hpp"
#include "ops/checks.hpp"

namespace maxplus::ops {

namespace {

constexpr std::int64_t kChannelGroup = 16;  // channels of one set of lanes

void check_backward(TensorView d_in, TensorView d_weight, TensorView d_out, TensorView in, TensorView inverse_rms,
                    TensorView weight) {
  const std::int64_t tokens = in.extent(0), channels = in.extent(1);
  check_view("rms_norm_backward in", in, DType::f32, {tokens, channels});
  check_view("rms_norm_backward d_in", d_in, DType::f32, {tokens, channels});
  check_view("rms_norm_backward d_out", d_out, DType::f32, {tokens, channels});
  check_view("rms_norm_backward inverse_rms", inverse_rms, DType::f32, {tokens});
  check_view("rms_norm_backward weight", weight, DType::f32, {channels});
  check_view("rms_norm_backward d_weight", d_weight, DType::f32, {channels});
}

void weight_gradient(const Stream& stream, TensorView d_weight, TensorView d_out, TensorView in,
                     TensorView inverse_rms) {
  const std::int64_t tokens = in.extent(0), channels = in.extent(1);
  const host::NormTable& table = MAXPLUS_TABLE(norm_table);
  float* const dw = d_weight.as<float>();
  const float* const d = d_out.as<float>();
  const float* const x = in.as<float>();
  const float* const r = inverse_rms.as<float>();
  host::for_each_range(stream, (channels + kChannelGroup - 1) / kChannelGroup,
                       [&](std::int64_t first, std::int64_t last, int) {
                         table.weight_gradient(dw, d, x, r, tokens, channels, first * kChannelGroup,
                                               std::min(last * kChannelGroup, channels));
                       });
}

}  // namespace

void rms_norm(const Stream& stream, TensorView out, TensorView inverse_rms, TensorView in, TensorView weight,
              float epsilon) {
  const host::Region region("maxplus.rms_norm");
  const std::int64_t tokens = in.extent(0), channels = in.extent(1);
  check_view("rms_norm in", in, DType::f32, {tokens, channels});
  check_view("rms_norm out", out, DType::f32, {tokens, channels});
  check_view("rms_norm inverse_rms", inverse_rms, DType::f32, {tokens});
  check_view("rms_norm weight", weight, DType::f32, {channels});
  const host::NormTable& table = MAXPLUS_TABLE(norm_table);
  float* const o = out.as<float>();
  float* const r = inverse_rms.as<float>();
  const float* const x = in.as<float>();
  const float* const w = weight.as<float>();
  host::for_each_range(stream, tokens, [&](std::int64_t first, std::int64_t last, int) {
    table.forward(o + first * channels, r + first, x + first * channels, w, last - first, channels, epsilon);
  });
}

void rms_norm_backward(const Stream& stream, TensorView d_in, TensorView d_weight, TensorView addend, TensorView d_out,
                       TensorView in, TensorView inverse_rms, TensorView weight) {
  const host::Region region("maxplus.rms_norm_backward");
  const std::int64_t tokens = in.extent(0), channels = in.extent(1);
  check_backward(d_in, d_weight, d_out, in, inverse_rms, weight);
  check_view("rms_norm_backward addend", addend, DType::f32, {tokens, channels});
  if (tokens == 0) return;
  weight_gradient(stream, d_weight, d_out, in, inverse_rms);
  const host::NormTable& table = MAXPLUS_TABLE(norm_table);
  float* const dx = d_in.as<float>();
  const float* const a = addend.as<float>();
  const float* const d = d_out.as<float>();
  const float* const x = in.as<float>();
  const float* const r = inverse_rms.as<float>();
  const float* const w = weight.as<float>();
  host::for_each_range(stream, tokens, [&](std::int64_t first, std::int64_t last, int) {
    const std::int64_t at = first * channels;
    table.backward(dx + at, a + at, d + at, x + at, r + first, w, last - first, channels);
  });
}

void rms_norm_backward_alone(const Stream& stream, TensorView d_in, TensorView d_weight, TensorView d_out,
                             TensorView in, TensorView inverse_rms, TensorView weight) {
  const host::Region region("maxplus.rms_norm_backward");
  const std::int64_t tokens = in.extent(0), channels = in.extent(1);
  check_backward(d_in, d_weight, d_out, in, inverse_rms, weight);
  if (tokens == 0) return;
  weight_gradient(stream, d_weight, d_out, in, inverse_rms);
  const host::NormTable& table = MAXPLUS_TABLE(norm_table);
  float* const dx = d_in.as<float>();
  const float* const d = d_out.as<float>();
  const float* const x = in.as<float>();
  const float* const r = inverse_rms.as<float>();
  const float* const w = weight.as<float>();
  host::for_each_range(stream, tokens, [&](std::int64_t first, std::int64_t last, int) {
    const std::int64_t at = first * channels;
    table.backward_alone(dx + at, d + at, x + at, r + first, w, last - first, channels);
  });
}

}  // namespace maxplus::ops
