#pragma once
// Problems from a JSONL file: {"id", "prompt" (text or messages) or "prompt_ids", "answer", "verifier", …}, one a line.
// The deck may name the fields otherwise, or a preset that does (preset.hpp). A text is one user turn where the
// tokenizer has a chat template; messages are a conversation there, and elsewhere the text of their contents, a line
// each. Other keys are handed to the verifier; a "difficulty" is one of them.

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "data/bad_lines.hpp"
#include "data/preset.hpp"
#include "data/problem_source.hpp"
#include "text/tokenizer.hpp"

namespace maxplus {

struct ProblemFileOptions {
  ProblemFields fields;
  const Preset* preset = nullptr;  // completes lines; its fields are in `fields`
  // `strict`: an id that is no whole number, or there already, makes a bad line. `lenient`: then line numbers are taken
  // for all, since the ids of a preset's file may be texts, or count anew in each of its parts.
  enum class Ids { strict, lenient } ids = Ids::strict;
  OnBadLine on_bad_line = OnBadLine::stop;
  std::vector<std::string> verifiers;  // that a problem may ask for; empty: any
  std::int64_t max_prompt_tokens = 0;  // context less max_new_tokens; 0: no limit
  // `required`: a line without a usable answer is a bad line. `optional`: for prompts only (generate), and for
  // verifiers that need none.
  enum class Answer { required, optional } answer = Answer::required;
  // What else a problem must be: throws Error, whose first fault, its place apart, tells why the line is bad. May be
  // empty.
  std::function<void(const Problem&)> check;
};

struct LoadedProblems {
  std::shared_ptr<const ProblemSource> source;
  std::int64_t lines = 0, skipped = 0;  // blank lines are no lines
  std::string skip_summary;             // one sentence for the log; empty if nothing was skipped
  std::string id_note;                  // likewise: why line numbers stand in for ids; empty if they do not
};

// A null tokenizer serves lines with prompt_ids only; with one, ids must lie in its vocabulary. A line without an id
// takes its line number. Throws Error(no_input) if there is no such file, Error(data) with FILE:LINE for what is in it,
// also if no problem is left.
LoadedProblems load_problems(const std::filesystem::path& path, const std::shared_ptr<const Tokenizer>& tokenizer,
                             const ProblemFileOptions& options);

}  // namespace maxplus
