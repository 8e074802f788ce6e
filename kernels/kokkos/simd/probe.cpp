// Probes of peak arithmetic and read bandwidth.

#include "kokkos/simd/lanes.hpp"
#include "kokkos/simd/probe_table.hpp"

namespace maxplus::host::MAXPLUS_SIMD {

namespace {

#if defined(MAXPLUS_SIMD_avx512)
constexpr int kRegistersPerLanes = 1;
#else
constexpr int kRegistersPerLanes = 2;
#endif
// AVX-512 needs more chains in flight, since each fills one register only.
constexpr int kChains = static_cast<int>(kProbeChains) * (kRegistersPerLanes == 1 ? 2 : 1);

float multiply_add(std::int64_t rounds) {
  float start[kLanes];  // all different, or the compiler finds equal halves of a register pair and computes one
  for (int l = 0; l < kLanes; ++l) start[l] = 1.0f + 0.001f * static_cast<float>(l);
  Lanes chain[kChains];
#pragma GCC unroll 12
  for (int i = 0; i < kChains; ++i) chain[i] = load(start) + broadcast(static_cast<float>(i));
  const Lanes factor = broadcast(0.999f), addend = broadcast(0.001f);
  for (std::int64_t round = 0; round < rounds * kProbeChains / kChains; ++round) {
#pragma GCC unroll 12
    for (int i = 0; i < kChains; ++i) chain[i] = fma(chain[i], factor, addend);
  }
  Lanes total = broadcast(0.0f);
#pragma GCC unroll 12
  for (int i = 0; i < kChains; ++i) total = total + chain[i];
  return sum(total);
}

float read(const float* values, std::int64_t count) {
  Lanes total[4] = {broadcast(0.0f), broadcast(0.0f), broadcast(0.0f), broadcast(0.0f)};
  for (std::int64_t i = 0; i + 64 <= count; i += 64) {
#pragma GCC unroll 4
    for (int line = 0; line < 4; ++line) {
      __builtin_prefetch(values + i + line * kLanes + 1024, 0, 3);
      total[line] = total[line] + load(values + i + line * kLanes);
    }
  }
  return sum((total[0] + total[1]) + (total[2] + total[3]));
}

constexpr ProbeTable kTable = {multiply_add, read};

}  // namespace

const ProbeTable& probe_table() { return kTable; }

}  // namespace maxplus::host::MAXPLUS_SIMD
