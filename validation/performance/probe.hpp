#pragma once
// The limits of this machine, measured on the threads of a stream: peak of fused multiply-adds and read bandwidth (huge
// pages). Samples of a kernel and of both limits are taken next to each other, since the speed of a shared machine
// changes within seconds.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <vector>

#include "device/memory.hpp"
#include "device/stream.hpp"
#include "kokkos/bf16/bf16_table.hpp"
#include "kokkos/kernel_table.hpp"
#include "kokkos/simd/probe_table.hpp"
#include "kokkos/team.hpp"
#include "ops/matmul.hpp"

namespace maxplus::performance {

// The processor time of this process is not disturbed by others, but says nothing of waiting: it is right for one
// thread.
enum class Clock { wall, processor };

inline double now(Clock clock) {
  timespec t;
  clock_gettime(clock == Clock::processor ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

inline double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

inline host::PeakProbe peak_probe(ops::Arithmetic arithmetic) {
  switch (arithmetic) {
    case ops::Arithmetic::f32: break;
    case ops::Arithmetic::bf16_dot: return host::bf16_dot_probe();
    case ops::Arithmetic::bf16_tiles: return host::bf16_tiles_probe();
  }
  return {MAXPLUS_TABLE(probe_table).multiply_add, host::kProbeFlops};
}

class Probe {
 public:
  Probe(const Stream& stream, ops::Arithmetic arithmetic)
      : stream_(stream),
        memory_(kFloats * sizeof(float), Space::host),
        peak_(peak_probe(arithmetic)),
        rounds_(kFlops / peak_.flops) {
    host::for_each_range(stream_, stream_.threads(), [&](std::int64_t, std::int64_t, int t) {
      std::fill(part(t, 0), part(t, 0) + parts() * kPart, 1.0f);
    });
  }
  // About half a millisecond each.
  void multiply_add() {
    host::for_each_range(stream_, stream_.threads(), [&](std::int64_t, std::int64_t, int) {
      if (peak_.run(rounds_) == 0.0f) std::abort();  // keeps the work alive
    });
  }
  void read() {
    ++turn_;
    host::for_each_range(stream_, stream_.threads(), [&](std::int64_t, std::int64_t, int t) {
      if (table_.read(part(t, turn_), kPart) == 0.0f) std::abort();
    });
  }
  // Of one call of the above, on all threads together.
  double flops() const { return static_cast<double>(stream_.threads() * rounds_ * peak_.flops); }
  double bytes() const { return static_cast<double>(stream_.threads() * kPart * 4); }

 private:
  static constexpr std::int64_t kFloats = 128 << 20;  // 512 MiB to rotate over
  static constexpr std::int64_t kFlops = 40'000'000;  // a thread and call
  static constexpr std::int64_t kPart = 1 << 20;      // floats a thread and call: 4 MiB

  std::int64_t parts() const { return kFloats / kPart / stream_.threads(); }
  float* part(int thread, std::int64_t number) const {
    return static_cast<float*>(memory_.data()) + (thread * parts() + number % parts()) * kPart;
  }

  const Stream& stream_;
  Memory memory_;
  host::PeakProbe peak_;
  std::int64_t rounds_;
  std::int64_t turn_ = 0;
  const host::ProbeTable& table_ = MAXPLUS_TABLE(probe_table);
};

}  // namespace maxplus::performance
