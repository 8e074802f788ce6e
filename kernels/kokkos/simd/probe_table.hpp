#pragma once
// What the processor can do at most: the limits that kernels are measured against.

#include <cstdint>

namespace maxplus::host {

struct ProbeTable {
  // Independent fused multiply-add chains, as many as hide the latency; returns a value that depends on all. `rounds`
  // of kProbeFlops floating-point operations.
  float (*multiply_add)(std::int64_t rounds);
  // Reads `count` floats (a multiple of 64) once in one stream; returns their sum.
  float (*read)(const float* values, std::int64_t count);
};

inline constexpr std::int64_t kProbeChains = 6;  // of sixteen lanes
inline constexpr std::int64_t kProbeFlops = kProbeChains * 16 * 2;

namespace plain {
const ProbeTable& probe_table();
}
namespace avx2 {
const ProbeTable& probe_table();
}
namespace avx512 {
const ProbeTable& probe_table();
}

}  // namespace maxplus::host
