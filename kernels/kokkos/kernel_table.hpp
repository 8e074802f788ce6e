#pragma once
// Which instruction set runs, and how a kernel reaches its bodies (README.md, "adding a kernel"). For baseline files
// only: files in simd/ must not include it.

#include <string_view>

namespace maxplus::host {

// Each holds those before it. The last two differ from avx512 in products of bf16 only (bf16/bf16_table.hpp).
enum class InstructionSet : int { plain = 0, avx2 = 1, avx512 = 2, avx512_bf16 = 3, amx = 4 };
std::string_view name_of(InstructionSet set);

// The best that this processor has.
InstructionSet best_instruction_set();
// What runs: the best, or what MAXPLUS_SIMD in the environment asks for. Throws Error(ExitCode::unavailable) when that
// is unknown or more than the processor has.
InstructionSet instruction_set_in_use();
// Tests compare the sets within one process. Not above best_instruction_set().
void use_instruction_set(InstructionSet set);

template <class Table>
const Table& choose_table(const Table& (*plain)(), const Table& (*avx2)(), const Table& (*avx512)()) {
  switch (instruction_set_in_use()) {
    case InstructionSet::amx:
    case InstructionSet::avx512_bf16:
    case InstructionSet::avx512: return avx512();
    case InstructionSet::avx2: return avx2();
    case InstructionSet::plain: break;
  }
  return plain();
}

}  // namespace maxplus::host

// The table that `function` returns in plain::, avx2:: and avx512::, of the set in use.
#ifdef MAXPLUS_X86
#define MAXPLUS_TABLE(function)                                                                      \
  ::maxplus::host::choose_table(&::maxplus::host::plain::function, &::maxplus::host::avx2::function, \
                                &::maxplus::host::avx512::function)
#else
#define MAXPLUS_TABLE(function)                                                                       \
  ::maxplus::host::choose_table(&::maxplus::host::plain::function, &::maxplus::host::plain::function, \
                                &::maxplus::host::plain::function)
#endif
