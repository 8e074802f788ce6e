// The choice among the bodies of bf16 products.
#include "kokkos/bf16/bf16_table.hpp"

#include <atomic>

#include "kokkos/kernel_table.hpp"
#include "kokkos/simd/probe_table.hpp"

namespace maxplus::host {

namespace {

std::atomic<Bf16Bodies> bodies_in_use{Bf16Bodies::native};

bool emulating() { return bodies_in_use.load(std::memory_order_relaxed) == Bf16Bodies::emulated; }

}  // namespace

void use_bf16_bodies(Bf16Bodies bodies) { bodies_in_use.store(bodies, std::memory_order_relaxed); }

const MatmulTable& bf16_dot_table() {
  if (emulating()) return emulated::dot_table();
#ifdef MAXPLUS_X86
  if (instruction_set_in_use() >= InstructionSet::avx512_bf16) return avx512bf16::dot_table();
#endif
  return MAXPLUS_TABLE(matmul_bf16_table);
}

const MatmulTable& bf16_tiles_table() {
#ifdef MAXPLUS_X86
  if (!emulating() && instruction_set_in_use() == InstructionSet::amx) return amx::tiles_table();
#endif
  return emulated::tiles_table();
}

PeakProbe bf16_dot_probe() {
#ifdef MAXPLUS_X86
  if (instruction_set_in_use() >= InstructionSet::avx512_bf16) return avx512bf16::dot_probe();
#endif
  return {MAXPLUS_TABLE(probe_table).multiply_add, kProbeFlops};
}

PeakProbe bf16_tiles_probe() {
#ifdef MAXPLUS_X86
  if (instruction_set_in_use() == InstructionSet::amx) return amx::tiles_probe();
#endif
  return emulated::tiles_probe();
}

}  // namespace maxplus::host
