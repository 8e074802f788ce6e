// Gated activations and soft caps on the host: tokens, or rows of logits, are cut over the team.
#include "ops/activation.hpp"

#include "kokkos/kernel_table.hpp"
#include "kokkos/region.hpp"
#include "kokkos/simd/activation_table.hpp"
#include "kokkos/team.hpp"
#include "ops/checks.hpp"

namespace maxplus::ops {

namespace {

using host::ActivationTable;

void gated(const Stream& stream, decltype(ActivationTable::swiglu) body, TensorView out, TensorView gate_up) {
  const std::int64_t tokens = out.extent(0), width = out.extent(1);
  check_view("gated activation out", out, DType::f32, {tokens, width});
  check_view("gated activation gate_up", gate_up, DType::f32, {tokens, 2 * width});
  float* const o = out.as<float>();
  const float* const x = gate_up.as<float>();
  host::for_each_part(stream, tokens,
                      [&](std::int64_t t) { body(o + t * width, x + 2 * t * width, x + (2 * t + 1) * width, width); });
}

void gated_backward(const Stream& stream, decltype(ActivationTable::swiglu_backward) body, TensorView d_gate_up,
                    TensorView d_out, TensorView gate_up) {
  const std::int64_t tokens = d_out.extent(0), width = d_out.extent(1);
  check_view("gated activation d_out", d_out, DType::f32, {tokens, width});
  check_view("gated activation d_gate_up", d_gate_up, DType::f32, {tokens, 2 * width});
  check_view("gated activation gate_up", gate_up, DType::f32, {tokens, 2 * width});
  float* const dx = d_gate_up.as<float>();
  const float* const d = d_out.as<float>();
  const float* const x = gate_up.as<float>();
  host::for_each_part(stream, tokens, [&](std::int64_t t) {
    const std::int64_t gate = 2 * t * width, up = gate + width;
    body(dx + gate, dx + up, d + t * width, x + gate, x + up, width);
  });
}

const ActivationTable& activations() { return MAXPLUS_TABLE(activation_table); }

}  // namespace

void swiglu(const Stream& stream, TensorView out, TensorView gate_up) {
  const host::Region region("maxplus.swiglu");
  gated(stream, activations().swiglu, out, gate_up);
}

void geglu(const Stream& stream, TensorView out, TensorView gate_up) {
  const host::Region region("maxplus.geglu");
  gated(stream, activations().geglu, out, gate_up);
}

void swiglu_backward(const Stream& stream, TensorView d_gate_up, TensorView d_out, TensorView gate_up) {
  const host::Region region("maxplus.swiglu_backward");
  gated_backward(stream, activations().swiglu_backward, d_gate_up, d_out, gate_up);
}

void geglu_backward(const Stream& stream, TensorView d_gate_up, TensorView d_out, TensorView gate_up) {
  const host::Region region("maxplus.geglu_backward");
  gated_backward(stream, activations().geglu_backward, d_gate_up, d_out, gate_up);
}

void soft_cap(const Stream& stream, TensorView out, TensorView in, float cap) {
  const host::Region region("maxplus.soft_cap");
  const std::int64_t rows = in.extent(0), columns = in.extent(1);
  check_view("soft_cap in", in, DType::f32, {rows, columns});
  check_view("soft_cap out", out, DType::f32, {rows, columns});
  MAXPLUS_REQUIRE(cap > 0, fmt::format("soft cap {}", cap));
  const ActivationTable& table = activations();
  float* const o = out.as<float>();
  const float* const x = in.as<float>();
  host::for_each_part(stream, rows,
                      [&](std::int64_t r) { table.soft_cap(o + r * columns, x + r * columns, cap, columns); });
}

void soft_cap_backward(const Stream& stream, TensorView d_in, TensorView d_out, TensorView out, float cap) {
  const host::Region region("maxplus.soft_cap_backward");
  const std::int64_t rows = out.extent(0), columns = out.extent(1);
  check_view("soft_cap_backward out", out, DType::f32, {rows, columns});
  check_view("soft_cap_backward d_out", d_out, DType::f32, {rows, columns});
  check_view("soft_cap_backward d_in", d_in, DType::f32, {rows, columns});
  MAXPLUS_REQUIRE(cap > 0, fmt::format("soft cap {}", cap));
  const ActivationTable& table = activations();
  float* const dx = d_in.as<float>();
  const float* const d = d_out.as<float>();
  const float* const y = out.as<float>();
  host::for_each_part(stream, rows, [&](std::int64_t r) {
    table.soft_cap_backward(dx + r * columns, d + r * columns, y + r * columns, cap, columns);
  });
}

}  // namespace maxplus::ops
