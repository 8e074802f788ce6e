#pragma once
// Running one response's program against its tests in a sandbox.

#include <chrono>
#include <string>
#include <vector>

#include "verify/code/test_cases.hpp"
#include "verify/sandbox/sandbox.hpp"

namespace maxplus {

struct CodeJudgeRules {
  std::vector<std::string> command;  // of a program; "{program}" is the judged text
  std::string python;                // of functions
  double timeout_s = 10;             // all tests of an item together
  std::size_t output_bytes = 0;      // all tests of an item together
  double tolerance = 0;
  enum class After { first_failure, all } go_on = After::first_failure;
};

struct CodeJudgement {
  std::size_t passed = 0;
  bool timed_out = false;
  std::string reason;  // of the first test that failed; empty: all passed
};

// Of the text that the sandbox holds. Throws SandboxFailure.
CodeJudgement judge_program(Sandbox& sandbox, const CodeJudgeRules& rules, const CodeTests& tests);

}  // namespace maxplus
