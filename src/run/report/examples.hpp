#pragma once
// Rollouts that stand for an iteration, found in rollouts.jsonl without reading all of it.

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

#include "run/report/run_record.hpp"

namespace maxplus {

// Best, worst and two others by place, without repetition: which rewards, and why.
struct Choice {
  const char* why;
  std::size_t index;
};
std::vector<Choice> choose_examples(const std::vector<double>& rewards);

// Iterations ascend in the file: each one is found by halving. Lines that are torn or of another kind are left out;
// an absent file has none.
std::vector<IterationExamples> read_examples(const std::filesystem::path& file, int iterations);

}  // namespace maxplus
