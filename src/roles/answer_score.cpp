#include "roles/answer_score.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/exact_math.hpp"
#include "rl/packing.hpp"
#include "roles/scorer.hpp"

namespace maxplus {

ScoreRule score_rule(const RewardModelTable& table) {
  ScoreRule rule;
  rule.of_steps = table.at == "steps";
  rule.step_mark = table.step_mark;
  rule.sigmoid = table.scale == "sigmoid";
  if (table.combine == "mean") rule.combine = ScoreRule::Combine::mean;
  if (table.combine == "product") rule.combine = ScoreRule::Combine::product;
  if (table.combine == "last") rule.combine = ScoreRule::Combine::last;
  return rule;
}

std::vector<std::size_t> step_ends(const Tokenizer& tokenizer, std::span<const std::int32_t> tokens,
                                   std::string_view mark) {
  MAXPLUS_REQUIRE(!mark.empty(), "a step's mark has characters");
  std::vector<std::size_t> ends;
  std::string text;  // since the last mark
  for (std::size_t t = 0; t < tokens.size(); ++t) {
    text += tokenizer.bytes(tokens[t]);
    bool complete = t + 1 == tokens.size();
    for (std::size_t found = text.find(mark); found != std::string::npos; found = text.find(mark)) {
      complete = true;
      text.erase(0, found + mark.size());
    }
    if (complete) ends.push_back(t);
  }
  return ends;
}

float combined_score(std::span<const float> steps, const ScoreRule& rule) {
  MAXPLUS_REQUIRE(!steps.empty(), "an answer has a step");
  std::vector<double> score;
  for (const float raw : steps) {
    const auto x = static_cast<double>(raw);
    score.push_back(rule.sigmoid ? 1 / (1 + exact_exp(-x)) : x);
  }
  double sum = 0, product = 1;
  for (const double x : score) sum += x, product *= x;
  switch (rule.combine) {
    case ScoreRule::Combine::min: return static_cast<float>(*std::min_element(score.begin(), score.end()));
    case ScoreRule::Combine::mean: return static_cast<float>(sum / static_cast<double>(score.size()));
    case ScoreRule::Combine::product: return static_cast<float>(product);
    case ScoreRule::Combine::last: return static_cast<float>(score.back());
  }
  MAXPLUS_REQUIRE(false, "unknown way to combine scores");
}

std::vector<float> score_answers(Transformer& network, std::span<const Experience* const> experiences,
                                 std::int64_t batch_tokens, const ScoreRule& rule, const Tokenizer* tokenizer) {
  MAXPLUS_REQUIRE(!rule.of_steps || tokenizer != nullptr, "steps are found in text");
  const std::vector<Experience> whole = fed_whole(experiences);
  std::vector<const Experience*> asked;
  for (const Experience& experience : whole) asked.push_back(&experience);
  // value[i][t] stands before token t of answer i, so behind token t - 1; the added token's is that of the whole
  // answer.
  const std::vector<std::vector<float>> value = value_experiences(network, asked, batch_tokens);
  std::vector<float> score;
  for (std::size_t i = 0; i < value.size(); ++i) {
    std::vector<float> steps;
    if (rule.of_steps) {
      for (const std::size_t end : step_ends(*tokenizer, experiences[i]->rollout.token, rule.step_mark))
        steps.push_back(value[i][end + 1]);
    }
    if (steps.empty()) steps.push_back(value[i].back());
    score.push_back(combined_score(steps, rule));
  }
  return score;
}

}  // namespace maxplus
