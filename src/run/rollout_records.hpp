#pragma once
// Rollouts as lines of rollouts.jsonl, and recorded rollouts (ours or made elsewhere) read back for `replay`.
//
// A record holds no time and no rank, so the file is the same on any number of ranks. Numbers read back to the same
// bits.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "rl/sample.hpp"

namespace maxplus {

// `response` is the text without the stop token. "advantage" is one number if all trainable tokens share it, else a
// list with a number a response token.
Json rollout_record(std::int64_t iteration, const Experience& experience, const std::string& response);

struct RecordedRollout {
  std::int64_t iteration = 0;  // 0 where the file has none
  std::string response;        // text, if recorded
  Experience experience;
};

struct RecordLimits {
  std::int64_t vocabulary = 0;  // token ids are below it; 0: unknown
  std::int64_t context = 0;     // prompt and response together; 0: unknown
};

// One line. Throws Error(ExitCode::data) with `where` ("file:line"). A rollout without an id gets one from
// `line_number`.
RecordedRollout parse_rollout_record(const std::string& text, const std::string& where, std::int64_t line_number,
                                     const RecordLimits& limits);

// A file, blank lines skipped. All faults are reported at once (the first twenty). Throws Error(ExitCode::data), or
// Error(ExitCode::no_input) for a file that cannot be read.
std::vector<RecordedRollout> read_rollout_records(const std::filesystem::path& path, const RecordLimits& limits);

}  // namespace maxplus
