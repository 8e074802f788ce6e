#include "kokkos/kernel_table.hpp"

#include <atomic>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/error.hpp"

namespace maxplus::host {

namespace {

constexpr std::string_view kNames[] = {"plain", "avx2", "avx512"};

InstructionSet asked_for() {
  const InstructionSet best = best_instruction_set();
  const char* wish = std::getenv("MAXPLUS_SIMD");
  if (wish == nullptr || *wish == '\0') return best;
  for (int set = 0; set <= static_cast<int>(best); ++set) {
    if (kNames[set] == wish) return static_cast<InstructionSet>(set);
  }
  throw Error(ExitCode::unavailable, Fault{"", std::string("MAXPLUS_SIMD = \"") + wish + "\" in the environment",
                                           "plain, avx2 or avx512, and not more than this processor has, which is " +
                                               std::string(kNames[static_cast<int>(best)]),
                                           "unset MAXPLUS_SIMD"});
}

std::atomic<int>& current() {
  static std::atomic<int> set{static_cast<int>(asked_for())};
  return set;
}

}  // namespace

InstructionSet best_instruction_set() {
#ifdef MAXPLUS_X86
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c");
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
  if (avx2 && avx512) return InstructionSet::avx512;
  if (avx2) return InstructionSet::avx2;
#endif
  return InstructionSet::plain;
}

InstructionSet instruction_set_in_use() {
  return static_cast<InstructionSet>(current().load(std::memory_order_relaxed));
}

void use_instruction_set(InstructionSet set) {
  MAXPLUS_REQUIRE(set <= best_instruction_set(), "this processor lacks the instruction set");
  current().store(static_cast<int>(set), std::memory_order_relaxed);
}

}  // namespace maxplus::host
