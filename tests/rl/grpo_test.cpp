#include "rl/algorithms/grpo.hpp"

#include <bit>
#include <cmath>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "rl/algorithm_support.hpp"

namespace maxplus {
namespace {

using testing_rl::draw;
using testing_rl::pointers;
using testing_rl::rollout;
using testing_rl::table_of;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// The policy has moved a little since the rollouts were drawn.
std::vector<float> moved(const Experience& e, double by, std::uint64_t seed) {
  std::vector<float> log_prob;
  for (std::size_t t = 0; t < e.rollout.log_prob.size(); ++t) {
    log_prob.push_back(e.rollout.log_prob[t] + static_cast<float>(by * (draw(seed, t) - 0.5)));
  }
  return log_prob;
}

TokenTerms terms_of(const Experience& e, const std::vector<float>& log_prob, const std::vector<float>& entropy) {
  return {log_prob, entropy, e.rollout.log_prob, e.assessment.reference_log_prob, e.advantage, e.rollout.trainable};
}

std::vector<Experience> two_groups() {
  std::vector<Experience> list;
  for (std::uint64_t i = 0; i < 5; ++i) list.push_back(rollout(2, i % 2 == 0 ? 1.0f : 0.0f, 3 + 2 * static_cast<std::int64_t>(i), 10 + i));
  for (std::uint64_t i = 0; i < 5; ++i) list.push_back(rollout(7, 0.1f, 5, 20 + i));
  return list;
}

std::vector<AlgorithmTable> many_tables() {
  std::vector<AlgorithmTable> tables;
  for (const char* name : {"grpo", "dr_grpo", "dapo", "gspo"}) tables.push_back(table_of(name));
  for (const char* kl : {"k1", "k2", "k3"}) {
    AlgorithmTable t = table_of("grpo");
    t.kl = kl;
    t.kl_coefficient = 0.3;
    t.entropy_coefficient = 0.05;
    t.ratio = "sequence";
    tables.push_back(t);
    t.ratio = "token";
    t.dual_clip = 1.5;
    t.aggregation = "token_mean";
    tables.push_back(t);
  }
  return tables;
}

double total_loss(const Algorithm& algorithm, const std::vector<Experience>& step, const std::vector<std::vector<float>>& log_prob,
                  const std::vector<std::vector<float>>& entropy) {
  const StepStatistics statistics = algorithm.prepare(pointers(step));
  double sum = 0;
  for (std::size_t i = 0; i < step.size(); ++i) sum += algorithm.loss(terms_of(step[i], log_prob[i], entropy[i]), statistics).loss;
  return sum;
}

TEST(Grpo, HasTheGradientOfFiniteDifferences) {
  constexpr double kStep = 1.0 / 1024;        // exact in float
  constexpr double kTolerance = 2e-4;         // step^2 of the curvature, and float rounding of the moved value / step
  for (const AlgorithmTable& table : many_tables()) {
    SCOPED_TRACE(table.name + " kl " + table.kl + " ratio " + table.ratio.value_or("-"));
    const auto algorithm = make_algorithm(table, 16);
    std::vector<Experience> step = two_groups();
    algorithm->fill_advantages(step);
    std::vector<std::vector<float>> log_prob, entropy;
    for (std::size_t i = 0; i < step.size(); ++i) {
      log_prob.push_back(moved(step[i], 1.2, 100 + i));
      entropy.push_back(moved(step[i], 1.0, 200 + i));
    }
    const StepStatistics statistics = algorithm->prepare(pointers(step));
    int kinks = 0, compared = 0;
    for (std::size_t i = 0; i < step.size(); ++i) {
      const TokenLoss loss = algorithm->loss(terms_of(step[i], log_prob[i], entropy[i]), statistics);
      for (std::size_t t = 0; t < log_prob[i].size(); ++t) {
        const auto difference = [&](std::vector<float>& values) {
          const float before = values[t];
          values[t] = before + static_cast<float>(kStep);
          const double up = total_loss(*algorithm, step, log_prob, entropy);
          const double above = static_cast<double>(values[t]);
          values[t] = before - static_cast<float>(kStep);
          const double down = total_loss(*algorithm, step, log_prob, entropy);
          const double below = static_cast<double>(values[t]);
          values[t] = before;
          return (up - down) / (above - below);
        };
        const double by_log_prob = difference(log_prob[i]);
        // A step across the edge of the clip sees a mixture of two slopes: allowed for a few tokens.
        if (std::abs(by_log_prob - static_cast<double>(loss.d_log_prob[t])) > kTolerance) ++kinks;
        EXPECT_NEAR(difference(entropy[i]), static_cast<double>(loss.d_entropy[t]), kTolerance);
        ++compared;
      }
    }
    EXPECT_GT(compared, 50);
    EXPECT_LE(kinks, 2);
  }
}

TEST(Grpo, HasRatioOneAndNoClipAndNoKlOnPolicy) {
  for (const AlgorithmTable& table : many_tables()) {
    const auto algorithm = make_algorithm(table, 16);
    std::vector<Experience> step = two_groups();
    algorithm->fill_advantages(step);
    const StepStatistics statistics = algorithm->prepare(pointers(step));
    for (const Experience& e : step) {
      const TokenLoss loss = algorithm->loss(terms_of(e, e.rollout.log_prob, e.rollout.log_prob), statistics);
      if (loss.tokens == 0) continue;
      EXPECT_EQ(loss.ratio_min, 1.0);
      EXPECT_EQ(loss.ratio_max, 1.0);
      EXPECT_EQ(loss.ratio_sum, static_cast<double>(loss.tokens));
      EXPECT_EQ(loss.kl_old_sum, 0.0);
      EXPECT_EQ(loss.gap_max, 0.0);
      EXPECT_EQ(loss.clipped_low + loss.clipped_high, 0);
    }
  }
}

TEST(Grpo, IsNotTouchedByNanAtUntrainablePositions) {
  for (AlgorithmTable table : many_tables()) {
    for (const char* where : {"loss", "reward"}) {
      table.kl_where = where;
      const auto algorithm = make_algorithm(table, 16);
      std::vector<Experience> clean = two_groups(), poisoned = two_groups();
      for (Experience& e : poisoned) {
        for (std::size_t t = 0; t < e.rollout.token.size(); ++t) {
          if (e.rollout.trainable[t] == 0) e.rollout.log_prob[t] = e.assessment.reference_log_prob[t] = kNan;
        }
      }
      algorithm->fill_advantages(clean);
      algorithm->fill_advantages(poisoned);
      const StepStatistics statistics = algorithm->prepare(pointers(clean));
      for (std::size_t i = 0; i < clean.size(); ++i) {
        std::vector<float> log_prob = moved(clean[i], 1, i), entropy = moved(clean[i], 1, 50 + i);
        const TokenLoss a = algorithm->loss(terms_of(clean[i], log_prob, entropy), statistics);
        for (std::size_t t = 0; t < log_prob.size(); ++t) {
          if (clean[i].rollout.trainable[t] == 0) log_prob[t] = entropy[t] = poisoned[i].advantage[t] = kNan;
        }
        const TokenLoss b = algorithm->loss(terms_of(poisoned[i], log_prob, entropy), statistics);
        EXPECT_EQ(std::bit_cast<std::uint64_t>(a.loss), std::bit_cast<std::uint64_t>(b.loss));
        EXPECT_EQ(a.ratio_sum, b.ratio_sum);
        EXPECT_EQ(a.entropy_sum, b.entropy_sum);
        EXPECT_EQ(a.kl_reference_sum, b.kl_reference_sum);
        EXPECT_EQ(a.d_log_prob, b.d_log_prob);
        EXPECT_EQ(a.d_entropy, b.d_entropy);
        for (std::size_t t = 0; t < log_prob.size(); ++t) {
          if (clean[i].rollout.trainable[t] == 0) {
            EXPECT_EQ(std::bit_cast<std::uint32_t>(b.d_log_prob[t]), 0u);
          }
        }
      }
    }
  }
}

TEST(Grpo, GivesExactlyNothingForAGroupOfEqualRewards) {
  for (const char* name : {"grpo", "dr_grpo", "dapo", "gspo"}) {
    AlgorithmTable table = table_of(name);
    table.overlong_penalty = 0;  // its shaping would make the rewards differ
    const auto algorithm = make_algorithm(table, 16);
    std::vector<Experience> step = two_groups();
    algorithm->fill_advantages(step);
    for (std::size_t i = 5; i < 10; ++i) {
      const TokenLoss loss = algorithm->loss(terms_of(step[i], moved(step[i], 1, i), {}), algorithm->prepare(pointers(step)));
      EXPECT_EQ(loss.loss, 0.0);
      for (const float g : loss.d_log_prob) EXPECT_EQ(g, 0.0f);
    }
  }
}

TEST(Grpo, LeavesVerdictsThatDoNotCountOutOfAdvantagesAndDenominators) {
  const auto algorithm = make_algorithm(table_of("grpo"), 16);
  std::vector<Experience> with = two_groups();
  Experience crashed = rollout(2, 0, 9, 77);
  crashed.assessment.verdict = Verdict::crashed;
  with.insert(with.begin() + 2, crashed);
  std::vector<Experience> without = two_groups();
  algorithm->fill_advantages(with);
  algorithm->fill_advantages(without);
  EXPECT_FALSE(algorithm->takes_part(with[2]));
  for (const float a : with[2].advantage) EXPECT_EQ(a, 0.0f);
  EXPECT_EQ(with[0].advantage, without[0].advantage);
  EXPECT_EQ(with[3].advantage, without[2].advantage);
  const StepStatistics a = algorithm->prepare(pointers(with)), b = algorithm->prepare(pointers(without));
  EXPECT_EQ(a.tokens, b.tokens);
  EXPECT_EQ(a.sequences, b.sequences);
}

TEST(Grpo, CountsFullyMaskedRolloutsAndTakesEmptySteps) {
  for (const char* aggregation : {"token_mean", "sequence_mean", "sequence_sum_constant"}) {
    AlgorithmTable table = table_of("grpo");
    table.aggregation = aggregation;
    const auto algorithm = make_algorithm(table, 16);
    EXPECT_EQ(algorithm->prepare({}).sequences, 0.0);
    Experience masked = rollout(1, 1, 5, 3), empty = rollout(1, 0, 0, 4);
    masked.rollout.trainable.assign(5, 0);
    std::vector<Experience> step = {masked, empty};
    algorithm->fill_advantages(step);
    const StepStatistics statistics = algorithm->prepare(pointers(step));
    EXPECT_EQ(statistics.sequences, 2.0);
    EXPECT_EQ(statistics.tokens, 0.0);
    for (const Experience& e : step) {
      const TokenLoss loss = algorithm->loss(terms_of(e, e.rollout.log_prob, {}), statistics);
      EXPECT_EQ(loss.loss, 0.0);
      EXPECT_EQ(loss.tokens, 0);
      for (const float g : loss.d_log_prob) EXPECT_EQ(g, 0.0f);
    }
  }
}

TEST(Grpo, DualClipIsPlainForPositiveAdvantagesAndSmallRatios) {
  AlgorithmTable plain = table_of("grpo"), dual = table_of("grpo");
  dual.dual_clip = 3.0;
  const auto a = make_algorithm(plain, 16), b = make_algorithm(dual, 16);
  std::vector<Experience> step = two_groups();
  a->fill_advantages(step);
  const StepStatistics statistics = a->prepare(pointers(step));
  for (std::size_t i = 0; i < 5; ++i) {
    const double by = step[i].assessment.reward > 0 ? 6.0 : 2.0;  // ratios up to e^3, or to e^1 < 3
    const std::vector<float> log_prob = moved(step[i], by, 60 + i);
    const TokenLoss x = a->loss(terms_of(step[i], log_prob, {}), statistics), y = b->loss(terms_of(step[i], log_prob, {}), statistics);
    EXPECT_EQ(x.loss, y.loss);
    EXPECT_EQ(x.d_log_prob, y.d_log_prob);
  }
}

TEST(Grpo, WithTheRatioOfTheSequenceIsPlainForOneToken) {
  AlgorithmTable token = table_of("grpo"), sequence = table_of("grpo");
  sequence.ratio = "sequence";
  const auto a = make_algorithm(token, 16), b = make_algorithm(sequence, 16);
  std::vector<Experience> step = {rollout(1, 1, 1, 31), rollout(1, 0, 1, 32)};
  for (Experience& e : step) e.rollout.trainable = {1};
  a->fill_advantages(step);
  const StepStatistics statistics = a->prepare(pointers(step));
  for (std::size_t i = 0; i < 2; ++i) {
    const std::vector<float> log_prob = moved(step[i], 0.3, 90 + i);
    const TokenLoss x = a->loss(terms_of(step[i], log_prob, {}), statistics), y = b->loss(terms_of(step[i], log_prob, {}), statistics);
    EXPECT_EQ(x.loss, y.loss);
    EXPECT_EQ(x.d_log_prob, y.d_log_prob);
  }
}

TEST(Grpo, WithTokenMeanIsDapoWhenTheClipsAreEqual) {
  AlgorithmTable grpo = table_of("grpo"), dapo = table_of("dapo");
  grpo.aggregation = "token_mean";
  dapo.clip_high = 0.2;
  dapo.overlong_penalty = 0;
  const auto a = make_algorithm(grpo, 16), b = make_algorithm(dapo, 16);
  std::vector<Experience> x = two_groups(), y = two_groups();
  a->fill_advantages(x);
  b->fill_advantages(y);
  const StepStatistics statistics = a->prepare(pointers(x));
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::vector<float> log_prob = moved(x[i], 1, i);
    EXPECT_EQ(x[i].advantage, y[i].advantage);
    EXPECT_EQ(a->loss(terms_of(x[i], log_prob, {}), statistics).d_log_prob, b->loss(terms_of(y[i], log_prob, {}), statistics).d_log_prob);
  }
}

TEST(Grpo, ClampsTheLogRatio) {
  const auto algorithm = make_algorithm(table_of("grpo"), 16);
  Experience e = rollout(1, 0, 1, 5);
  e.rollout.trainable = {1};
  e.advantage = {-1.0f};
  const std::vector<float> far = {e.rollout.log_prob[0] + 500};
  const TokenLoss loss = algorithm->loss(terms_of(e, far, {}), {1, 1});
  EXPECT_DOUBLE_EQ(loss.loss, std::exp(20.0));
  EXPECT_EQ(loss.d_log_prob[0], 0.0f);
}

TEST(Grpo, ShapesLongAnswersBeforeAdvantagesAndKeepsTheRawReward) {
  AlgorithmTable table = table_of("grpo");
  table.overlong_limit = 10;
  table.overlong_buffer = 4;
  table.overlong_penalty = 2;
  const auto algorithm = make_algorithm(table, 16);
  std::vector<Experience> step = {rollout(1, 1, 6, 1), rollout(1, 1, 8, 2), rollout(1, 1, 11, 3)};
  algorithm->fill_advantages(step);
  const auto& grpo = dynamic_cast<const Grpo&>(*algorithm);
  EXPECT_DOUBLE_EQ(grpo.shaped_reward(step[0]), 1);
  EXPECT_DOUBLE_EQ(grpo.shaped_reward(step[1]), 0);   // half of the way to -1, times 2
  EXPECT_DOUBLE_EQ(grpo.shaped_reward(step[2]), -1);
  for (const Experience& e : step) EXPECT_EQ(e.assessment.reward, 1.0f);
  const auto largest = [](const Experience& e) { return *std::max_element(e.advantage.begin(), e.advantage.end()); };
  EXPECT_NEAR(static_cast<double>(largest(step[0])), 1 / (1 + 1e-4), 1e-6);  // rewards 1, 0, -1 have std 1
}

TEST(Grpo, SubtractsTheKlOfTrainableTokensFromTheReward) {
  AlgorithmTable table = table_of("grpo");
  table.kl = "k1";
  table.kl_where = "reward";
  table.kl_coefficient = 0.5;
  const auto algorithm = make_algorithm(table, 16);
  EXPECT_TRUE(algorithm->needs().reference);
  const Experience e = rollout(1, 1, 7, 12);
  double kl = 0;
  for (std::size_t t = 0; t < 7; ++t) {
    if (e.rollout.trainable[t] != 0) kl += static_cast<double>(e.rollout.log_prob[t]) - static_cast<double>(e.assessment.reference_log_prob[t]);
  }
  EXPECT_NEAR(dynamic_cast<const Grpo&>(*algorithm).shaped_reward(e), 1 - 0.5 * kl, 1e-12);
}

TEST(Grpo, LeavesTruncatedRolloutsOutWhenAsked) {
  AlgorithmTable table = table_of("grpo");
  Experience e = rollout(1, 1, 7, 12);
  e.rollout.finish = Finish::length;
  EXPECT_TRUE(make_algorithm(table, 16)->takes_part(e));
  table.mask_truncated = true;
  EXPECT_FALSE(make_algorithm(table, 16)->takes_part(e));
}

TEST(Grpo, SaysWhereItLeavesItsPaper) {
  const auto lines = make_algorithm(table_of("grpo"), 16)->describe();
  int deviations = 0;
  for (const std::string& line : lines) deviations += line.find("differs from the paper") != std::string::npos ? 1 : 0;
  EXPECT_EQ(deviations, 1);  // kl = none
  AlgorithmTable table = table_of("grpo");
  table.kl = "k3";
  for (const std::string& line : make_algorithm(table, 16)->describe()) EXPECT_EQ(line.find("differs"), std::string::npos) << line;
  for (const std::string& line : make_algorithm(table_of("dapo"), 100)->describe()) EXPECT_EQ(line.find("differs"), std::string::npos) << line;
}

TEST(Registry, RefusesUnknownNamesAndChoicesWithTheConfigCode) {
  const auto refused = [](AlgorithmTable table) {
    try {
      make_algorithm(table, 16);
    } catch (const Error& error) {
      return error.code() == ExitCode::config ? std::string(error.what()) : "wrong code";
    }
    return std::string("accepted");
  };
  EXPECT_NE(refused(table_of("gpro")).find("grpo"), std::string::npos);
  AlgorithmTable table = table_of("grpo");
  table.kl = "k4";
  EXPECT_NE(refused(table).find("k4"), std::string::npos);
  table = table_of("grpo");
  table.std = "n-2";
  EXPECT_NE(refused(table).find("n-2"), std::string::npos);
  table = table_of("grpo");
  table.aggregation = "mean";
  EXPECT_NE(refused(table).find("'mean'"), std::string::npos);
  table = table_of("grpo");
  table.overlong_limit = 10;
  table.overlong_buffer = 11;
  EXPECT_NE(refused(table).find("overlong_buffer"), std::string::npos);
  table = table_of("grpo");
  table.dual_clip = 0.9;
  EXPECT_NE(refused(table).find("dual_clip"), std::string::npos);
  for (const std::string& name : algorithm_names()) EXPECT_EQ(refused(table_of(name)), "accepted");
}

}  // namespace
}  // namespace maxplus
