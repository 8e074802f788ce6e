#pragma once
// Answers whose worth a file tells, for learning from preferences: problems (problem_file.hpp) whose lines hold a pair,
//   {"prompt": …, "chosen": text, "rejected": text}
// or a marked answer,
//   {"prompt": …, "response": text, "label": true | false}
// An answer may also be a conversation of one turn of the assistant, or token ids ("chosen_ids", …), which stand as
// they are; to a text the token that ends an answer is added.

#include <cstdint>
#include <memory>
#include <vector>

#include "data/problem_source.hpp"
#include "rl/sample.hpp"
#include "text/tokenizer.hpp"

namespace maxplus {

struct AnswerFileOptions {
  bool pairs_only = true;       // marked answers are refused
  std::int64_t context = 0;     // most tokens of a prompt and an answer; 0: no limit
  std::int64_t most_lines = 0;  // only the first of the file; 0: all
};

// For ProblemFileOptions::check: throws Error(ExitCode::data), without a place, where AnswerSource cannot use a
// problem.
void check_answers(const Problem& problem, const Tokenizer* tokenizer, const AnswerFileOptions& options);

struct MarkedAnswer {
  std::vector<std::int32_t> token;
  bool good = false;
};

class AnswerSource {
 public:
  // Of problems that check_answers() lets through. Without a tokenizer answers are token ids.
  AnswerSource(std::shared_ptr<const ProblemSource> problems, const Tokenizer* tokenizer,
               const AnswerFileOptions& options);

  std::int64_t size() const { return static_cast<std::int64_t>(answers_.size()); }
  // The answers of a line: the chosen and the rejected one with rewards 1 and 0, or the marked one with its label as
  // reward. All tokens are trainable, no log-probabilities; id and group are the caller's to set.
  std::vector<Experience> at(std::int64_t line) const;
  // Most tokens of a prompt with all answers of its line.
  std::int64_t longest() const { return longest_; }

 private:
  std::shared_ptr<const ProblemSource> problems_;
  std::vector<std::vector<MarkedAnswer>> answers_;
  std::int64_t longest_ = 0;
};

}  // namespace maxplus
