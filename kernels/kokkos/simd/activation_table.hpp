#pragma once
// Innermost bodies of gated activations, one token a call, and of soft caps.

#include <cstdint>

namespace maxplus::host {

struct ActivationTable {
  void (*swiglu)(float* out, const float* gate, const float* up, std::int64_t width);
  void (*swiglu_backward)(float* d_gate, float* d_up, const float* d_out, const float* gate, const float* up,
                          std::int64_t width);
  void (*geglu)(float* out, const float* gate, const float* up, std::int64_t width);
  void (*geglu_backward)(float* d_gate, float* d_up, const float* d_out, const float* gate, const float* up,
                         std::int64_t width);
  void (*soft_cap)(float* out, const float* in, float cap, std::int64_t count);
  void (*soft_cap_backward)(float* d_in, const float* d_out, const float* out, float cap, std::int64_t count);
};

namespace plain {
const ActivationTable& activation_table();
}
namespace avx2 {
const ActivationTable& activation_table();
}
namespace avx512 {
const ActivationTable& activation_table();
}

}  // namespace maxplus::host
