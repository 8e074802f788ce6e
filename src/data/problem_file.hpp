#pragma once
// Problems from a JSONL file: {"id", "prompt" (text or messages) or "prompt_ids", "answer", "verifier", …}, one a line.
// The deck may name the keys otherwise. A text is one user turn where the tokenizer has a chat template; messages are a
// conversation there, and elsewhere the text of their contents, a line each. Keys that are not named here are handed to
// the verifier.

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "data/bad_lines.hpp"
#include "data/problem_source.hpp"
#include "text/tokenizer.hpp"

namespace maxplus {

struct ProblemFileOptions {
  std::string prompt_key = "prompt", answer_key = "answer", id_key = "id", verifier_key = "verifier";
  OnBadLine on_bad_line = OnBadLine::stop;
  std::vector<std::string> verifiers;  // that a problem may ask for; empty: any
  std::int64_t max_prompt_tokens = 0;  // context less max_new_tokens; 0: no limit
  // `required`: a line without a usable answer is a bad line. `optional`: for prompts only (generate), and for
  // verifiers that need none.
  enum class Answer { required, optional } answer = Answer::required;
};

struct LoadedProblems {
  std::shared_ptr<const ProblemSource> source;
  std::int64_t lines = 0, skipped = 0;  // blank lines are no lines
  std::string skip_summary;             // one sentence for the log; empty if nothing was skipped
};

// A null tokenizer serves lines with prompt_ids only; with one, ids must lie in its vocabulary. A line without an id
// takes its line number. Throws Error(no_input) if there is no such file, Error(data) with FILE:LINE for what is in it,
// also if no problem is left.
LoadedProblems load_problems(const std::filesystem::path& path, const std::shared_ptr<const Tokenizer>& tokenizer,
                             const ProblemFileOptions& options);

}  // namespace maxplus
