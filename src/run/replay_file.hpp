#pragma once
// Recorded rollouts as `replay` takes them, and rollouts as `generate` writes them.

#include <filesystem>
#include <string>
#include <vector>

#include "rl/sample.hpp"
#include "run/rollout_records.hpp"
#include "text/tokenizer.hpp"

namespace maxplus {

// The experiences of each iteration, in the order in which iterations appear in the file (a file without iterations is
// one); groups are kept together in the order of their first member, and rollout ids made so that this order is theirs.
std::vector<std::vector<Experience>> read_recorded_iterations(const std::filesystem::path& path,
                                                              const RecordLimits& limits);

// A recorded rollout with its text; without a tokenizer there is none. Nothing has judged it: no reward.
std::string generated_line(const Problem& problem, const Rollout& rollout, const Tokenizer* tokenizer);

}  // namespace maxplus
