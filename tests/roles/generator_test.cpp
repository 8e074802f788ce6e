// Forced lengths: of seed and id alone, and distributed as the name says.
#include "roles/generator.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace maxplus {
namespace {

GenerationRule rule_of(std::int64_t median, double sigma, std::int64_t longest) {
  GenerationRule rule;
  rule.force_length = median;
  rule.force_length_sigma = sigma;
  rule.max_new_tokens = longest;
  rule.seed = 5;
  return rule;
}

std::vector<std::int64_t> many_lengths(const GenerationRule& rule) {
  std::vector<std::int64_t> lengths;
  for (std::uint32_t slot = 0; slot < 4000; ++slot) lengths.push_back(forced_length(rule, {1, 0, slot, 0}, 0));
  return lengths;
}

TEST(ForcedLength, IsTheSameForAllWithoutSigma) {
  for (const std::int64_t length : many_lengths(rule_of(24, 0, 100))) EXPECT_EQ(length, 24);
}

TEST(ForcedLength, IsLognormal) {
  std::vector<std::int64_t> lengths = many_lengths(rule_of(1000, 1, 10000000));
  double sum = 0, squares = 0;
  for (const std::int64_t length : lengths) {
    const double x = std::log(static_cast<double>(length) / 1000);
    sum += x, squares += x * x;
  }
  const double n = static_cast<double>(lengths.size()),
               kErrors = 4;  // four standard errors of a mean and of a variance
  EXPECT_NEAR(sum / n, 0, kErrors / std::sqrt(n));
  EXPECT_NEAR(squares / n, 1, kErrors * std::sqrt(2 / n));
}

TEST(ForcedLength, StaysWithinOneAndTheLongest) {
  const std::vector<std::int64_t> lengths = many_lengths(rule_of(4, 2, 30));
  EXPECT_EQ(*std::min_element(lengths.begin(), lengths.end()), 1);
  EXPECT_EQ(*std::max_element(lengths.begin(), lengths.end()), 30);
}

TEST(ForcedLength, DependsOnSeedAndId) {
  GenerationRule other = rule_of(100, 1, 1000);
  const RolloutId id{3, 0, 2, 1};
  const std::int64_t length = forced_length(other, id, 9);
  EXPECT_NE(forced_length(other, {3, 0, 2, 2}, 9), length);
  other.seed = 6;
  EXPECT_NE(forced_length(other, id, 9), length);
}

TEST(ForcedLength, OfAProblemIsSharedAsFarAsTheDeckSays) {
  GenerationRule rule = rule_of(1000, 1, 10000000);
  const RolloutId first{3, 0, 2, 1}, second{5, 0, 7, 4};
  EXPECT_EQ(forced_length(rule, first, 8), forced_length(rule, first, 9)) << "0: of the rollout alone";
  rule.force_length_shared = 1;
  EXPECT_EQ(forced_length(rule, first, 8), forced_length(rule, second, 8)) << "1: of the problem alone";
  EXPECT_NE(forced_length(rule, first, 8), forced_length(rule, first, 9));
  rule.force_length_shared = 0.5;
  double sum = 0, squares = 0, products = 0;
  const std::int64_t problems = 4000;
  for (std::int64_t problem = 0; problem < problems; ++problem) {
    const auto slot = static_cast<std::uint32_t>(problem);
    const auto log_of = [&](std::uint32_t index) {
      return std::log(static_cast<double>(forced_length(rule, {1, 0, slot, index}, problem)) / 1000);
    };
    const double x = log_of(0), y = log_of(1);
    sum += x + y, squares += x * x + y * y, products += x * y;
  }
  const double n = static_cast<double>(problems), kErrors = 4;
  EXPECT_NEAR(sum / (2 * n), 0, kErrors / std::sqrt(n));
  EXPECT_NEAR(squares / (2 * n), 1, kErrors * std::sqrt(2 / n)) << "the variance stays";
  EXPECT_NEAR(products / n, 0.5, kErrors * std::sqrt(1.25 / n)) << "and half of it is common";
}

}  // namespace
}  // namespace maxplus
