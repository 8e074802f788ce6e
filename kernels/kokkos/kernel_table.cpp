#include "kokkos/kernel_table.hpp"

#include <atomic>
#include <cstdlib>
#include <string>
#include <string_view>

#ifdef MAXPLUS_X86
#include <cpuid.h>
#endif
#ifdef __linux__
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include "base/error.hpp"

namespace maxplus::host {

namespace {

constexpr std::string_view kNames[] = {"plain", "avx2", "avx512", "avx512_bf16", "amx"};

// Linux gives a process the tile registers when it asks for them.
bool tiles_granted() {
#if defined(MAXPLUS_X86) && defined(__linux__)
  constexpr long kRequestPermission = 0x1023, kTileData = 18;
  return ::syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
#else
  return false;
#endif
}

// g++ 12 cannot ask __builtin_cpu_supports for them: leaf 7, bits 22 (bf16) and 24 (tiles) of edx.
bool has_tiles() {
#ifdef MAXPLUS_X86
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (d >> 22 & 1u) != 0 && (d >> 24 & 1u) != 0;
#else
  return false;
#endif
}

InstructionSet asked_for() {
  const InstructionSet best = best_instruction_set();
  const char* wish = std::getenv("MAXPLUS_SIMD");
  if (wish == nullptr || *wish == '\0') return best;
  for (int set = 0; set <= static_cast<int>(best); ++set) {
    if (kNames[set] == wish) return static_cast<InstructionSet>(set);
  }
  throw Error(ExitCode::unavailable,
              Fault{"", std::string("MAXPLUS_SIMD = \"") + wish + "\" in the environment",
                    "plain, avx2, avx512, avx512_bf16 or amx, and not more than this processor has, which is " +
                        std::string(kNames[static_cast<int>(best)]),
                    "unset MAXPLUS_SIMD"});
}

std::atomic<int>& current() {
  static std::atomic<int> set{static_cast<int>(asked_for())};
  return set;
}

}  // namespace

std::string_view name_of(InstructionSet set) { return kNames[static_cast<int>(set)]; }

InstructionSet best_instruction_set() {
#ifdef MAXPLUS_X86
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c");
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
  if (avx2 && avx512) {
    if (!__builtin_cpu_supports("avx512bf16")) return InstructionSet::avx512;
    static const bool tiles = has_tiles() && tiles_granted();
    return tiles ? InstructionSet::amx : InstructionSet::avx512_bf16;
  }
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
