#include "run/metrics.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "roles/trainer.hpp"
#include "run/metric_table.hpp"

namespace maxplus {
namespace {

Experience judged(std::int64_t group, float reward, Verdict verdict, std::size_t tokens, Finish finish) {
  Experience e;
  e.problem.prompt = {1, 2, 3};
  e.rollout.group = group;
  e.rollout.token.assign(tokens, 5);
  e.rollout.trainable.assign(tokens, 1);
  e.rollout.finish = finish;
  e.assessment.reward = reward;
  e.assessment.part = {reward, 0.5f};
  e.assessment.verdict = verdict;
  e.advantage.assign(tokens, reward - 0.5f);
  return e;
}

TEST(MetricTable, HasEachNameOnceWithAMeaning) {
  std::set<std::string_view> names;
  for (const Metric& m : metric_table()) {
    EXPECT_TRUE(names.insert(m.name).second) << m.name;
    EXPECT_FALSE(m.meaning.empty()) << m.name;
    if (m.name.substr(0, 8) == "seconds_") {
      EXPECT_EQ(m.unit, "s") << m.name;
    }
  }
}

TEST(MetricTable, FindsNamesWithAFreePart) {
  EXPECT_EQ(find_metric("eval_pass_at_8")->name, "eval_pass_at_<k>");
  EXPECT_EQ(find_metric("reward_part_format_mean")->name, "reward_part_<name>_mean");
  EXPECT_EQ(find_metric("reward_part__mean"), nullptr);
  EXPECT_EQ(find_metric("reward"), nullptr);
  EXPECT_EQ(find_metric("eval_pass_at_"), nullptr);
}

TEST(MetricTable, IsWhatTheDocumentSays) {
  std::ifstream file(std::string(MAXPLUS_TEST_DATA) + "/../../docs/metrics.md");
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_EQ(text.str(), metrics_markdown()) << "docs/metrics.md is made from src/run/metric_table.cpp: write it anew";
}

Experience valued(std::vector<float> value, std::vector<float> target, std::vector<std::uint8_t> trainable) {
  Experience e;
  e.rollout.trainable = std::move(trainable);
  e.assessment.value = std::move(value);
  e.value_target = std::move(target);
  return e;
}

TEST(ExplainedVariance, IsTheShareOfTheTargetsSpreadThatValuesTell) {
  const auto of = [](const std::vector<Experience>& experiences) {
    MetricsRow row;
    add_explained_variance(&row, experiences);
    return row.has("explained_variance") ? row.number("explained_variance") : -99;
  };
  EXPECT_EQ(of({valued({0, 1}, {0, 1}, {1, 1})}), 1);
  EXPECT_EQ(of({valued({5, 6}, {0, 1}, {1, 1})}), 1) << "a constant distance has no variance";
  EXPECT_EQ(of({valued({0, 0}, {0, 1}, {1, 1})}), 0);
  EXPECT_EQ(of({valued({0.5f}, {0}, {1}), valued({0.5f, 7}, {1, 0}, {1, 0})}), 0) << "a foreign token is left out";
  EXPECT_EQ(of({valued({1, 0}, {0, 1}, {1, 1})}), -3);
  EXPECT_EQ(of({valued({0, 1}, {1, 1}, {1, 1})}), -99) << "equal targets have no spread";
  EXPECT_EQ(of({valued({}, {}, {1, 1})}), -99) << "no critic";
}

TEST(ValueStatistics, AreMeansOverTheCriticsUpdatesAndOfItsOwnNetworkOnly) {
  ValueReport first, second;
  first.loss = 1, second.loss = 0.5, second.clip_share = 0.25;
  MetricsRow shared;
  add_value_statistics(&shared, std::vector<ValueReport>{first, second});
  EXPECT_EQ(shared.number("value_loss"), 0.75);
  EXPECT_EQ(shared.number("value_clip_share"), 0.125);
  EXPECT_FALSE(shared.has("critic_gradient_norm"));
  second.own_network = true, second.gradient_norm = 3;  // its learning rate may be 0
  MetricsRow own;
  add_value_statistics(&own, std::vector<ValueReport>{second});
  EXPECT_EQ(own.number("critic_gradient_norm"), 3);
  EXPECT_EQ(own.number("critic_learning_rate"), 0);
  MetricsRow none;
  add_value_statistics(&none, {});
  EXPECT_FALSE(none.has("value_loss"));
}

TEST(MetricsRow, LeavesOutWhatIsNotFiniteOrWasNeverSet) {
  MetricsRow row;
  row.set("reward_mean", 0.5);
  row.set("iteration", 3);
  row.set("loss", std::nan(""));
  row.set("gradient_norm", 1.0);
  row.set("gradient_norm", std::numeric_limits<double>::infinity());
  row.set("weights_hash", "ab");
  EXPECT_EQ(json_line(row.line()), "{\"schema\":1,\"iteration\":3,\"reward_mean\":0.5,\"weights_hash\":\"ab\"}");
  EXPECT_FALSE(row.has("loss"));
  EXPECT_TRUE(std::isnan(row.number("loss")));
  EXPECT_EQ(row.number("reward_mean"), 0.5);
}

TEST(MetricsRow, RefusesANameWithoutAMeaning) {
  MetricsRow row;
  EXPECT_THROW(row.set("reward_average", 1.0), Error);
}

TEST(MetricsRow, ComesBackFromACheckpointWithItsOrder) {
  MetricsRow row;
  row.set("iteration", 3);
  row.set("tokens_trained", 12);
  row.set("accuracy", 0.1 + 0.2);
  row.set("weights_hash", "ab");
  const MetricsRow back = MetricsRow::from_json(nlohmann::json::parse(row.to_json().dump()));
  EXPECT_EQ(json_line(back.line()), json_line(row.line()));
}

TEST(RolloutStatistics, CountVerdictsAndLeaveOurOwnFaultsOut) {
  const std::vector<Experience> list = {
      judged(1, 1, Verdict::correct, 4, Finish::stopped),    judged(1, 0, Verdict::wrong, 7, Finish::length),
      judged(1, 9, Verdict::crashed, 1, Finish::stopped),    judged(2, 0, Verdict::timed_out, 9, Finish::budget),
      judged(2, 0, Verdict::no_answer, 2, Finish::stopped),  judged(3, 5, Verdict::gold_unusable, 2, Finish::stopped)};
  MetricsRow row;
  add_rollout_statistics(&row, list, {"right", "format"});
  EXPECT_EQ(row.number("rollouts"), 6);
  EXPECT_EQ(row.number("reward_mean"), 0.25);
  EXPECT_DOUBLE_EQ(row.number("reward_std"), std::sqrt(3.0) / 4);
  EXPECT_EQ(row.number("reward_min"), 0);
  EXPECT_EQ(row.number("reward_max"), 1);
  EXPECT_EQ(row.number("reward_part_format_mean"), 0.5);
  EXPECT_EQ(row.number("accuracy"), 0.25);
  EXPECT_EQ(row.number("verdict_crashed"), 1);
  EXPECT_EQ(row.number("verdict_timed_out"), 1);
  EXPECT_DOUBLE_EQ(row.number("response_length_mean"), 25.0 / 6);
  EXPECT_EQ(row.number("response_length_min"), 1);
  EXPECT_EQ(row.number("response_length_max"), 9);
  EXPECT_EQ(row.number("response_length_correct_mean"), 4);
  EXPECT_EQ(row.number("response_length_wrong_mean"), 6);
  EXPECT_DOUBLE_EQ(row.number("truncated_share"), 2.0 / 6);
  EXPECT_EQ(row.number("groups"), 3);
  EXPECT_DOUBLE_EQ(row.number("groups_zero_spread_share"), 2.0 / 3);
}

TEST(RolloutStatistics, OfNothingAreAbsentAndNotZero) {
  MetricsRow row;
  add_rollout_statistics(&row, {}, {});
  EXPECT_EQ(row.number("rollouts"), 0);
  for (const char* name : {"reward_mean", "accuracy", "response_length_mean", "response_length_correct_mean", "advantage_min", "truncated_share"}) {
    EXPECT_FALSE(row.has(name)) << name;
  }
}

StepReport report(double ratio_min, double ratio_max, std::int64_t tokens) {
  StepReport s;
  s.loss = 0.25;
  s.ratio_min = ratio_min;
  s.ratio_max = ratio_max;
  s.ratio_mean = (ratio_min + ratio_max) / 2;
  s.entropy_mean = 2;
  s.denominator_tokens = static_cast<double>(tokens);
  s.gradient_norm = 3;
  s.learning_rate = 0.125;
  s.tokens_trained = tokens;
  s.log_prob_gap_max = ratio_max - 1;
  return s;
}

TEST(StepStatistics, TakeTheFirstUpdateApartAndWeightMeansByTokens) {
  const std::vector<StepReport> steps = {report(1, 1, 10), report(0.5, 1.5, 30), report(0.75, 3, 10)};
  MetricsRow row;
  add_step_statistics(&row, steps);
  EXPECT_EQ(row.number("tokens_trained"), 50);
  EXPECT_EQ(row.number("ratio_min"), 0.5);
  EXPECT_EQ(row.number("ratio_max"), 3);
  EXPECT_EQ(row.number("first_ratio_min"), 1);
  EXPECT_EQ(row.number("first_ratio_max"), 1);
  EXPECT_EQ(row.number("log_prob_gap_max"), 0);
  EXPECT_DOUBLE_EQ(row.number("ratio_mean"), (10 * 1 + 30 * 1 + 10 * 1.875) / 50);
  EXPECT_EQ(row.number("entropy_mean"), 2);
  EXPECT_FALSE(row.has("kl_reference"));
  EXPECT_FALSE(row.has("importance_masked_share"));
}

TEST(StepStatistics, ShowImportanceWeightsWhereTheRuleHasThem) {
  std::vector<StepReport> steps = {report(1, 1, 10), report(0.5, 1.5, 30)};
  for (StepReport& step : steps) step.has_importance_weights = true;
  steps[0].importance_ratio_max = 1;
  steps[1].importance_ratio_max = 2.5;
  steps[1].importance_truncated_share = 0.5;
  steps[0].importance_masked_share = 0.25;
  MetricsRow row;
  add_step_statistics(&row, steps);
  EXPECT_EQ(row.number("importance_ratio_max"), 2.5);
  EXPECT_DOUBLE_EQ(row.number("importance_truncated_share"), 30 * 0.5 / 40);
  EXPECT_DOUBLE_EQ(row.number("importance_masked_share"), 10 * 0.25 / 40);
}

TEST(StepStatistics, SayNothingOfRatiosWhenNothingWasTrained) {
  MetricsRow row;
  add_step_statistics(&row, std::vector<StepReport>{});
  StepReport empty = report(1, 1, 0);
  add_step_statistics(&row, empty);
  for (const char* name : {"ratio_min", "first_ratio_min", "log_prob_gap_max", "loss", "kl_old"}) EXPECT_FALSE(row.has(name)) << name;
}

}  // namespace
}  // namespace maxplus
