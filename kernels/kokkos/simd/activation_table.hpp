#pragma once
// Innermost bodies of SwiGLU, one token a call.

#include <cstdint>

namespace maxplus::host {

struct ActivationTable {
  void (*swiglu)(float* out, const float* gate, const float* up, std::int64_t width);
  void (*swiglu_backward)(float* d_gate, float* d_up, const float* d_out, const float* gate, const float* up,
                          std::int64_t width);
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
