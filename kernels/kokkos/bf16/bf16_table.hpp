#pragma once
// Who computes products of bf16: the instructions of this processor where it has them, else chains of fp32, which give
// the same bits for bf16_dot. Files in this folder are compiled for one processor each and once with an engine of plain
// code in the exact order of the instruction, so that the same body is tested on processors without it.

#include <cstdint>

#include "kokkos/simd/matmul_table.hpp"

namespace maxplus::host {

const MatmulTable& bf16_dot_table();
const MatmulTable& bf16_tiles_table();

// Emulated: the bodies of the instructions with the plain engines, wherever they run. For tests.
enum class Bf16Bodies { native, emulated };
void use_bf16_bodies(Bf16Bodies bodies);

// The most that the arithmetic reaches here: rounds of independent operations, and floating-point operations a round.
struct PeakProbe {
  float (*run)(std::int64_t rounds);
  std::int64_t flops;
};
PeakProbe bf16_dot_probe();
PeakProbe bf16_tiles_probe();

namespace avx512bf16 {
const MatmulTable& dot_table();
PeakProbe dot_probe();
}  // namespace avx512bf16
namespace amx {
const MatmulTable& tiles_table();
PeakProbe tiles_probe();
}  // namespace amx
namespace emulated {
const MatmulTable& dot_table();
const MatmulTable& tiles_table();
PeakProbe dot_probe();
PeakProbe tiles_probe();
}  // namespace emulated

}  // namespace maxplus::host
