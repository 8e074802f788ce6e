#pragma once
// The hidden tests of a problem, in the forms that data sets have them.

#include <optional>
#include <string>
#include <vector>

#include "rl/sample.hpp"

namespace maxplus {

struct CodeTest {
  std::string input, output;    // of a program
  Json call, expect;            // arguments (an array) and value of a function
  bool may_be_wrapped = false;  // the value may stand in a list of one, as in APPS
};

struct CodeTests {
  std::string function;  // empty: a program that reads its input and writes its output
  std::vector<CodeTest> test;
};

// Nothing if there are no tests, or one that cannot be read.
std::optional<CodeTests> code_tests_of(const Problem& problem);

// Adds the test of "assert NAME(values…) == value" (also "is", and "assert not NAME(…)", "assert NAME(…)"); false if it
// is anything else. Python's tuples, sets and dictionaries become {"__tuple__": […]}, {"__set__": […]}, {"__dict__":
// [[k, v]…]}.
bool add_assertion(std::string_view line, CodeTests* tests);

}  // namespace maxplus
