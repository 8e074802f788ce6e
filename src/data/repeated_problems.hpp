#pragma once
// Problems that are asked more than once, and training problems that stand among the held-out ones. Two prompts are the
// same if their words are, whatever white space stands between them and however ASCII letters are written.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "data/problem_source.hpp"

namespace maxplus {

struct Repeats {
  std::vector<std::int64_t> index;                         // of the problems that repeat another
  std::vector<std::pair<std::string, std::string>> first;  // where the first of them stand, and what they repeat
};

Repeats repeats_within(const ProblemSource& problems);  // each repeats an earlier one
Repeats repeats_between(const ProblemSource& problems, const ProblemSource& others);

}  // namespace maxplus
