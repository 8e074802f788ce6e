// SwiGLU on the host: tokens are cut over the team.
#include "ops/activation.hpp"

#include "kokkos/kernel_table.hpp"
#include "kokkos/region.hpp"
#include "kokkos/simd/activation_table.hpp"
#include "kokkos/team.hpp"
#include "ops/checks.hpp"

namespace maxplus::ops {

void swiglu(const Stream& stream, TensorView out, TensorView gate_up) {
  const host::Region region("maxplus.swiglu");
  const std::int64_t tokens = out.extent(0), width = out.extent(1);
  check_view("swiglu out", out, DType::f32, {tokens, width});
  check_view("swiglu gate_up", gate_up, DType::f32, {tokens, 2 * width});
  const host::ActivationTable& table = MAXPLUS_TABLE(activation_table);
  float* const o = out.as<float>();
  const float* const x = gate_up.as<float>();
  host::for_each_part(stream, tokens, [&](std::int64_t t) {
    table.swiglu(o + t * width, x + 2 * t * width, x + (2 * t + 1) * width, width);
  });
}

void swiglu_backward(const Stream& stream, TensorView d_gate_up, TensorView d_out, TensorView gate_up) {
  const host::Region region("maxplus.swiglu_backward");
  const std::int64_t tokens = d_out.extent(0), width = d_out.extent(1);
  check_view("swiglu_backward d_out", d_out, DType::f32, {tokens, width});
  check_view("swiglu_backward d_gate_up", d_gate_up, DType::f32, {tokens, 2 * width});
  check_view("swiglu_backward gate_up", gate_up, DType::f32, {tokens, 2 * width});
  const host::ActivationTable& table = MAXPLUS_TABLE(activation_table);
  float* const dx = d_gate_up.as<float>();
  const float* const d = d_out.as<float>();
  const float* const x = gate_up.as<float>();
  host::for_each_part(stream, tokens, [&](std::int64_t t) {
    const std::int64_t gate = 2 * t * width, up = gate + width;
    table.swiglu_backward(dx + gate, dx + up, d + t * width, x + gate, x + up, width);
  });
}

}  // namespace maxplus::ops
