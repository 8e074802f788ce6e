#include "data/answer_file.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "data/token_ids.hpp"
#include "text/chat_template.hpp"

namespace maxplus {

namespace {

[[noreturn]] void bad(std::string found, std::string expected) {
  throw Error(ExitCode::data, Fault{"", std::move(found), std::move(expected), "repair or remove the line"});
}

// A text, or the content of the only turn of a conversation.
std::string text_of(const Json& value, const std::string& key) {
  if (value.is_string()) return value.get<std::string>();
  const bool turn = value.is_array() && value.size() == 1 && value[0].is_object() && value[0].contains("content") &&
                    value[0]["content"].is_string();
  if (!turn) bad(fmt::format("'{}' is neither a text nor one turn of a conversation", key), "a text");
  return value[0]["content"].get<std::string>();
}

bool has(const Problem& problem, const std::string& key) {
  return problem.extra.contains(key) || problem.extra.contains(key + "_ids");
}

std::vector<std::int32_t> answer_of(const Problem& problem, const std::string& key, const Tokenizer* tokenizer) {
  if (problem.extra.contains(key + "_ids")) return token_ids(problem.extra[key + "_ids"], key + "_ids", tokenizer, "");
  if (!problem.extra.contains(key)) bad(fmt::format("the line has no '{}'", key), "\"chosen\" and \"rejected\"");
  if (tokenizer == nullptr) bad(fmt::format("'{}' is text, and the model has no tokenizer", key), "token ids");
  std::vector<std::int32_t> ids = tokenizer->encode(text_of(problem.extra[key], key), SpecialText::as_text);
  ids.push_back(answer_end(*tokenizer));
  return ids;
}

bool label_of(const Problem& problem) {
  if (problem.extra.contains("label") && problem.extra["label"].is_boolean()) return problem.extra["label"].get<bool>();
  bad("the answer has no 'label'", "\"label\": true or false");
}

std::vector<MarkedAnswer> answers_of(const Problem& problem, const Tokenizer* tokenizer,
                                     const AnswerFileOptions& options) {
  std::vector<MarkedAnswer> answers;
  if (!options.pairs_only && has(problem, "response")) {
    answers.push_back({answer_of(problem, "response", tokenizer), label_of(problem)});
  } else {
    answers.push_back({answer_of(problem, "chosen", tokenizer), true});
    answers.push_back({answer_of(problem, "rejected", tokenizer), false});
  }
  for (const MarkedAnswer& answer : answers) {
    const auto tokens = static_cast<std::int64_t>(problem.prompt.size() + answer.token.size());
    if (options.context > 0 && tokens > options.context) {
      bad(fmt::format("prompt and answer have {} tokens", tokens),
          fmt::format("at most {}, the context", options.context));
    }
  }
  return answers;
}

}  // namespace

void check_answers(const Problem& problem, const Tokenizer* tokenizer, const AnswerFileOptions& options) {
  answers_of(problem, tokenizer, options);
}

AnswerSource::AnswerSource(std::shared_ptr<const ProblemSource> problems, const Tokenizer* tokenizer,
                           const AnswerFileOptions& options)
    : problems_(std::move(problems)) {
  const std::int64_t lines =
      options.most_lines > 0 ? std::min(options.most_lines, problems_->size()) : problems_->size();
  for (std::int64_t i = 0; i < lines; ++i) {
    const Problem problem = problems_->at(i);
    answers_.push_back(answers_of(problem, tokenizer, options));
    auto together = static_cast<std::int64_t>(problem.prompt.size());
    for (const MarkedAnswer& answer : answers_.back()) together += static_cast<std::int64_t>(answer.token.size());
    longest_ = std::max(longest_, together);
  }
}

std::vector<Experience> AnswerSource::at(std::int64_t line) const {
  std::vector<Experience> experiences;
  for (const MarkedAnswer& answer : answers_.at(static_cast<std::size_t>(line))) {
    Experience experience;
    experience.problem = problems_->at(line);
    experience.rollout.problem = experience.problem.id;
    experience.rollout.token = answer.token;
    experience.rollout.trainable.assign(answer.token.size(), 1);
    experience.assessment.reward = answer.good ? 1.0f : 0.0f;
    experience.assessment.verdict = answer.good ? Verdict::correct : Verdict::wrong;
    experiences.push_back(std::move(experience));
  }
  return experiences;
}

}  // namespace maxplus
