// The policy-gradient rules of every name: gradients, and what holds for all of them.
#include "rl/algorithms/policy_options.hpp"

#include <bit>
#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "rl/algorithm_support.hpp"
#include "rl/algorithms/policy_gradient.hpp"

namespace maxplus {
namespace {

using testing_rl::draw;
using testing_rl::many_tables;
using testing_rl::moved;
using testing_rl::pointers;
using testing_rl::rollout;
using testing_rl::settings_of;
using testing_rl::table_of;
using testing_rl::terms_of;
using testing_rl::text_of;
using testing_rl::two_groups;
using testing_rl::wide_step;
using testing_rl::WideStep;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// What a rule holds constant while its gradient is taken, held constant: the interpolated anchor as if it had been
// recomputed, and the weights of cispo by its own formula.
double loss_with_constants(const WideStep& step, const WideStep& base, const PolicyRule& rule) {
  if (rule.objective != Objective::truncated_weight) return step.loss(rule);
  double sum = 0;
  for (std::size_t i = 0; i < step.experiences.size(); ++i) {
    for (std::size_t t = 0; t < step.log_prob[i].size(); ++t) {
      if (step.experiences[i].rollout.trainable[t] == 0) continue;
      double weight = std::exp(base.log_prob[i][t] - base.old_log_prob[i][t]);
      weight = std::min(std::max(weight, 1 - rule.clip_low.value_or(1)), 1 + rule.clip_high);
      sum -= weight * step.advantage[i][t] * step.log_prob[i][t];
    }
  }
  return sum / step.statistics.tokens;
}

TEST(PolicyGradient, HasTheGradientOfFiniteDifferences) {
  constexpr double kStep = 1e-5;
  constexpr double kTolerance = 1e-8;  // of the largest slope: step^2 of the curvature, and rounding / step
  for (const AlgorithmTable& table : many_tables()) {
    SCOPED_TRACE(text_of(table));
    const PolicyRule rule = settings_of(table).policy;
    const WideStep base = wide_step(*make_algorithm(table, 16));
    WideStep step = base;
    PolicyRule frozen = rule;
    if (rule.importance.proximal == Proximal::interpolate) {
      frozen.importance.proximal = Proximal::recompute;
      for (std::size_t i = 0; i < step.experiences.size(); ++i)
        step.proximal[i] = importance_terms(step.terms(i), step.statistics, rule.importance).anchor;
    }
    int compared = 0;
    double largest = 0;
    for (std::size_t i = 0; i < step.experiences.size(); ++i) {
      const DoubleLoss loss = policy_loss(base.terms(i), base.statistics, rule);
      for (std::size_t t = 0; t < step.log_prob[i].size(); ++t) {
        const auto difference = [&](double& value) {
          const double before = value;
          value = before + kStep;
          const double up = loss_with_constants(step, base, frozen);
          value = before - kStep;
          const double down = loss_with_constants(step, base, frozen);
          value = before;
          return (up - down) / (2 * kStep);
        };
        const double scale = std::max(1.0, std::abs(loss.d_log_prob[t]));
        EXPECT_NEAR(difference(step.log_prob[i][t]), loss.d_log_prob[t], kTolerance * scale) << i << ", token " << t;
        if (rule.objective != Objective::truncated_weight) {
          EXPECT_NEAR(difference(step.entropy[i][t]), loss.d_entropy[t], kTolerance);
        }
        if (base.experiences[i].rollout.trainable[t] == 0) {
          EXPECT_EQ(loss.d_log_prob[t], 0.0);
        }
        largest = std::max(largest, std::abs(loss.d_log_prob[t]));
        ++compared;
      }
    }
    EXPECT_GT(compared, 30);
    EXPECT_GT(largest, 0);
  }
}

TEST(PolicyGradient, HasRatioOneAndNoClipAndNoKlOnPolicy) {
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
      EXPECT_EQ(loss.importance_max, 1.0);
      EXPECT_EQ(loss.importance_square_sum, static_cast<double>(loss.tokens));
      EXPECT_EQ(loss.importance_truncated + loss.importance_masked, 0);
      EXPECT_EQ(loss.kl_old_sum, 0.0);
      EXPECT_EQ(loss.gap_max, 0.0);
      EXPECT_EQ(loss.clipped_low + loss.clipped_high, 0);
    }
  }
}

TEST(PolicyGradient, IsNotTouchedByNanAtUntrainablePositions) {
  for (AlgorithmTable table : many_tables()) {
    for (const char* where : {"loss", "reward"}) {
      table.kl_where = where;
      const auto algorithm = make_algorithm(table, 16);
      std::vector<Experience> clean = two_groups(), poisoned = two_groups();
      for (Experience& e : poisoned) {
        for (std::size_t t = 0; t < e.rollout.token.size(); ++t) {
          if (e.rollout.trainable[t] == 0)
            e.rollout.log_prob[t] = e.assessment.reference_log_prob[t] = e.proximal_log_prob[t] =
                e.assessment.value[t] = kNan;
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

TEST(PolicyGradient, GivesExactlyNothingForAGroupOfEqualRewards) {
  // All that compare within a group; remax, whose greedy answer has the same reward; with one reward in the batch all.
  for (AlgorithmTable table : many_tables()) {
    SCOPED_TRACE(text_of(table));
    if (table.kl != "none") continue;         // its term stays
    if (settings_of(table).critic) continue;  // values tell answers of equal reward apart
    table.overlong_penalty = 0;               // its shaping would make the rewards differ
    const auto algorithm = make_algorithm(table, 16);
    std::vector<Experience> step = two_groups();
    const Baseline baseline = settings_of(table).advantage.baseline.baseline;
    if (baseline == Baseline::batch_mean || baseline == Baseline::none) step.erase(step.begin(), step.begin() + 5);
    algorithm->fill_advantages(step);
    const StepStatistics statistics = algorithm->prepare(pointers(step));
    for (const Experience& e : step) {
      if (e.rollout.group != 7) continue;
      for (const float a : e.advantage) EXPECT_EQ(a, 0.0f);
      if (table.name == "opmd") continue;  // its anchor pulls without any reward
      const TokenLoss loss = algorithm->loss(terms_of(e, moved(e, 1, 5), {}), statistics);
      EXPECT_EQ(loss.loss, 0.0);
      for (const float g : loss.d_log_prob) EXPECT_EQ(g, 0.0f);
    }
  }
}

TEST(PolicyGradient, LeavesVerdictsThatDoNotCountOutOfAdvantagesAndDenominators) {
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

TEST(PolicyGradient, CountsFullyMaskedRolloutsAndTakesEmptySteps) {
  for (const AlgorithmTable& table : many_tables()) {
    SCOPED_TRACE(text_of(table));
    const auto algorithm = make_algorithm(table, 16);
    EXPECT_EQ(algorithm->prepare({}).sequences, 0.0);
    Experience masked = rollout(1, 1, 5, 3), empty = rollout(1, 0, 0, 4);
    masked.rollout.trainable.assign(5, 0);
    masked.proximal_log_prob = masked.rollout.log_prob;
    masked.assessment.greedy_reward = empty.assessment.greedy_reward = 0.5f;
    std::vector<Experience> step = {masked, empty};
    algorithm->fill_advantages(step);
    const StepStatistics statistics = algorithm->prepare(pointers(step));
    EXPECT_EQ(statistics.sequences, 2.0);
    EXPECT_EQ(statistics.tokens, 0.0);
    for (const Experience& e : step) {
      const TokenLoss loss = algorithm->loss(terms_of(e, e.rollout.log_prob, e.rollout.log_prob), statistics);
      EXPECT_EQ(loss.loss, 0.0);
      EXPECT_EQ(loss.tokens, 0);
      for (const float g : loss.d_log_prob) EXPECT_EQ(g, 0.0f);
    }
  }
}

TEST(PolicyGradient, DualClipIsPlainForPositiveAdvantagesAndSmallRatios) {
  AlgorithmTable plain = table_of("grpo"), dual = table_of("grpo");
  dual.dual_clip = 3.0;
  const auto a = make_algorithm(plain, 16), b = make_algorithm(dual, 16);
  std::vector<Experience> step = two_groups();
  a->fill_advantages(step);
  const StepStatistics statistics = a->prepare(pointers(step));
  for (std::size_t i = 0; i < 5; ++i) {
    const double by = step[i].assessment.reward > 0 ? 6.0 : 2.0;  // ratios up to e^3, or to e^1 < 3
    const std::vector<float> log_prob = moved(step[i], by, 60 + i);
    const TokenLoss x = a->loss(terms_of(step[i], log_prob, {}), statistics),
                    y = b->loss(terms_of(step[i], log_prob, {}), statistics);
    EXPECT_EQ(x.loss, y.loss);
    EXPECT_EQ(x.d_log_prob, y.d_log_prob);
  }
}

TEST(PolicyGradient, WithTheRatioOfTheSequenceIsPlainForOneToken) {
  AlgorithmTable token = table_of("grpo"), sequence = table_of("grpo");
  sequence.ratio = "sequence";
  const auto a = make_algorithm(token, 16), b = make_algorithm(sequence, 16);
  std::vector<Experience> step = {rollout(1, 1, 1, 31), rollout(1, 0, 1, 32)};
  for (Experience& e : step) e.rollout.trainable = {1};
  a->fill_advantages(step);
  const StepStatistics statistics = a->prepare(pointers(step));
  for (std::size_t i = 0; i < 2; ++i) {
    const std::vector<float> log_prob = moved(step[i], 0.3, 90 + i);
    const TokenLoss x = a->loss(terms_of(step[i], log_prob, {}), statistics),
                    y = b->loss(terms_of(step[i], log_prob, {}), statistics);
    EXPECT_EQ(x.loss, y.loss);
    EXPECT_EQ(x.d_log_prob, y.d_log_prob);
  }
}

TEST(PolicyGradient, WithTokenMeanIsDapoWhenTheClipsAreEqual) {
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
    EXPECT_EQ(a->loss(terms_of(x[i], log_prob, {}), statistics).d_log_prob,
              b->loss(terms_of(y[i], log_prob, {}), statistics).d_log_prob);
  }
}

TEST(PolicyGradient, ClampsTheLogRatio) {
  const auto algorithm = make_algorithm(table_of("grpo"), 16);
  Experience e = rollout(1, 0, 1, 5);
  e.rollout.trainable = {1};
  e.advantage = {-1.0f};
  const std::vector<float> far = {e.rollout.log_prob[0] + 500};
  const TokenLoss loss = algorithm->loss(terms_of(e, far, {}), {1, 1});
  EXPECT_DOUBLE_EQ(loss.loss, std::exp(20.0));
  EXPECT_EQ(loss.d_log_prob[0], 0.0f);
}

TEST(PolicyGradient, ShapesLongAnswersBeforeAdvantagesAndKeepsTheRawReward) {
  AlgorithmTable table = table_of("grpo");
  table.overlong_limit = 10;
  table.overlong_buffer = 4;
  table.overlong_penalty = 2;
  const auto algorithm = make_algorithm(table, 16);
  std::vector<Experience> step = {rollout(1, 1, 6, 1), rollout(1, 1, 8, 2), rollout(1, 1, 11, 3)};
  algorithm->fill_advantages(step);
  const auto& grpo = dynamic_cast<const PolicyGradient&>(*algorithm);
  EXPECT_DOUBLE_EQ(grpo.judged(step[0]).reward, 1);
  EXPECT_DOUBLE_EQ(grpo.judged(step[1]).reward, 0);  // half of the way to -1, times 2
  EXPECT_DOUBLE_EQ(grpo.judged(step[2]).reward, -1);
  for (const Experience& e : step) EXPECT_EQ(e.assessment.reward, 1.0f);
  const auto largest = [](const Experience& e) { return *std::max_element(e.advantage.begin(), e.advantage.end()); };
  EXPECT_NEAR(static_cast<double>(largest(step[0])), 1 / (1 + 1e-4), 1e-6);  // rewards 1, 0, -1 have std 1
}

TEST(PolicyGradient, SubtractsTheKlOfTrainableTokensFromTheReward) {
  AlgorithmTable table = table_of("grpo");
  table.kl = "k1";
  table.kl_where = "reward";
  table.kl_coefficient = 0.5;
  const auto algorithm = make_algorithm(table, 16);
  EXPECT_TRUE(algorithm->needs().reference);
  const Experience e = rollout(1, 1, 7, 12);
  double kl = 0;
  for (std::size_t t = 0; t < 7; ++t) {
    if (e.rollout.trainable[t] != 0)
      kl += static_cast<double>(e.rollout.log_prob[t]) - static_cast<double>(e.assessment.reference_log_prob[t]);
  }
  const JudgedRollout judged = dynamic_cast<const PolicyGradient&>(*algorithm).judged(e);
  EXPECT_EQ(judged.reward, 1);
  EXPECT_NEAR(std::accumulate(judged.kl.begin(), judged.kl.end(), 0.0), 0.5 * kl, 1e-12);
}

TEST(PolicyGradient, LeavesTruncatedRolloutsOutWhenAsked) {
  AlgorithmTable table = table_of("grpo");
  Experience e = rollout(1, 1, 7, 12);
  e.rollout.finish = Finish::length;
  EXPECT_TRUE(make_algorithm(table, 16)->takes_part(e));
  table.mask_truncated = true;
  EXPECT_FALSE(make_algorithm(table, 16)->takes_part(e));
}

}  // namespace
}  // namespace maxplus
