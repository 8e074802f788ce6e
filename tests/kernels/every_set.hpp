#pragma once
// Runs a check with every instruction set that this processor has and with teams of one, two and three threads.

#include <string>

#include <gtest/gtest.h>

#include "kokkos/kernel_table.hpp"

namespace maxplus::test {

// check(threads) for each combination; the first one is the plainest, which others are compared with.
template <class Check>
void with_every_set_and_team(Check check) {
  const host::InstructionSet before = host::instruction_set_in_use();
  for (int set = 0; set <= static_cast<int>(host::best_instruction_set()); ++set) {
    for (int threads : {1, 2, 3}) {
      const testing::ScopedTrace trace(
          __FILE__, __LINE__, "instruction set " + std::to_string(set) + ", threads " + std::to_string(threads));
      host::use_instruction_set(static_cast<host::InstructionSet>(set));
      check(threads);
    }
  }
  host::use_instruction_set(before);
}

}  // namespace maxplus::test
