// Where steps end, and what the scores of steps make of an answer.
#include "roles/answer_score.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace maxplus {
namespace {

std::vector<std::size_t> ends_in(const std::string& text, const std::string& mark) {
  const auto tokenizer = make_character_tokenizer("abc.\n");
  return step_ends(*tokenizer, tokenizer->encode(text, SpecialText::as_text), mark);
}

TEST(AnswerScore, AStepEndsWhereItsMarkDoesAndAtTheLastToken) {
  using Ends = std::vector<std::size_t>;
  EXPECT_EQ(ends_in("ab\n\nc\n\n", "\n\n"), (Ends{3, 6}));
  EXPECT_EQ(ends_in("ab\n\nc", "\n\n"), (Ends{3, 4}));
  EXPECT_EQ(ends_in("abc", "\n\n"), (Ends{2}));
  EXPECT_EQ(ends_in("\n\n\n\n", "\n\n"), (Ends{1, 3})) << "marks do not overlap";
  EXPECT_EQ(ends_in("", "."), Ends{});
}

TEST(AnswerScore, AMarkMayEndInsideAToken) {
  const auto tokenizer = make_word_tokenizer("a b.c .");
  const std::vector<std::int32_t> tokens = {0, 1, 0, 2, 0};
  EXPECT_EQ(step_ends(*tokenizer, tokens, "."), (std::vector<std::size_t>{1, 3, 4}));
}

TEST(AnswerScore, CombinesTheScoresOfSteps) {
  using Combine = ScoreRule::Combine;
  const std::vector<float> steps = {2, -1, 0.5f};
  const auto combined = [&](Combine combine, bool sigmoid) {
    ScoreRule rule;
    rule.combine = combine, rule.sigmoid = sigmoid;
    return combined_score(steps, rule);
  };
  EXPECT_EQ(combined(Combine::min, false), -1);
  EXPECT_EQ(combined(Combine::mean, false), 0.5f);
  EXPECT_EQ(combined(Combine::product, false), -1);
  EXPECT_EQ(combined(Combine::last, false), 0.5f);
  const auto logistic = [](double x) { return 1 / (1 + std::exp(-x)); };
  EXPECT_FLOAT_EQ(combined(Combine::product, true),
                  static_cast<float>(logistic(2) * logistic(-1) * logistic(0.5)));
  EXPECT_FLOAT_EQ(combined(Combine::min, true), static_cast<float>(logistic(-1)));
}

}  // namespace
}  // namespace maxplus
