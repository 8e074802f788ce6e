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

constexpr std::size_t kMostFaults = 20;

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

}  // namespace

AnswerSource::AnswerSource(std::shared_ptr<const ProblemSource> problems, const Tokenizer* tokenizer,
                           const AnswerFileOptions& options)
    : problems_(std::move(problems)) {
  std::vector<Fault> faults;
  const std::int64_t lines =
      options.most_lines > 0 ? std::min(options.most_lines, problems_->size()) : problems_->size();
  for (std::int64_t i = 0; i < lines && faults.size() < kMostFaults; ++i) {
    const Problem problem = problems_->at(i);
    try {
      std::vector<Answer> answers;
      if (!options.pairs_only && has(problem, "response")) {
        answers.push_back({answer_of(problem, "response", tokenizer), label_of(problem)});
      } else {
        answers.push_back({answer_of(problem, "chosen", tokenizer), true});
        answers.push_back({answer_of(problem, "rejected", tokenizer), false});
      }
      const auto prompt = static_cast<std::int64_t>(problem.prompt.size());
      std::int64_t together = prompt;
      for (const Answer& answer : answers) {
        const auto tokens = static_cast<std::int64_t>(answer.token.size());
        together += tokens;
        if (options.context > 0 && prompt + tokens > options.context) {
          bad(fmt::format("prompt and answer have {} tokens", prompt + tokens),
              fmt::format("at most {}, the context", options.context));
        }
      }
      longest_ = std::max(longest_, together);
      answers_.push_back(std::move(answers));
    } catch (const Error& error) {
      Fault fault = error.faults().front();
      fault.where = problems_->where(i);
      faults.push_back(std::move(fault));
    }
  }
  if (!faults.empty()) throw Error(ExitCode::data, std::move(faults));
}

std::vector<Experience> AnswerSource::at(std::int64_t line) const {
  std::vector<Experience> experiences;
  for (const Answer& answer : answers_.at(static_cast<std::size_t>(line))) {
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
