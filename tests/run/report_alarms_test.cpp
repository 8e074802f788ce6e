// Every alarm: a made-up series that triggers exactly that rule, and a healthy one that triggers none.
#include "run/report/alarms.hpp"

#include <cmath>
#include <map>
#include <set>

#include "run/report_runs.hpp"

namespace maxplus {
namespace {

namespace fs = std::filesystem;

constexpr int kIterations = 60;

using Change = std::function<void(Json&, int)>;  // of the line of an iteration

RunRecord run_with(const Change& change, int iterations) {
  const fs::path folder = report_runs::empty_folder("alarms");
  {
    JsonLinesWriter metrics(folder / "metrics.jsonl");
    for (int k = 0; k <= iterations; ++k) {
      Json row = report_runs::healthy_row(k, iterations);
      change(row, k);
      metrics.write(row);
    }
  }
  return read_run(folder, 0);
}

std::set<std::string> names_of(const std::vector<Alarm>& alarms) {
  std::set<std::string> names;
  for (const Alarm& alarm : alarms) names.insert(alarm.rule->name);
  return names;
}

// From 0 to 1 over the run.
double share(int k) { return static_cast<double>(k) / kIterations; }

Change set(const char* metric, std::function<double(int)> value) {
  return [=](Json& row, int k) {
    if (k > 0) row[metric] = value(k);
  };
}

// The series of every rule. `iteration` is where it must be seen.
struct Case {
  Change change;
  int iteration;
};

std::map<std::string, Case> cases() {
  const auto from_40 = [](double value) { return [=](int k) { return k >= 40 ? value : 0.0; }; };
  return {
      {"sampler_disagrees", {set("log_prob_gap_max", [](int k) { return k == 17 ? 0.02 : 0.0; }), 17}},
      {"first_ratio_low", {set("first_ratio_min", [](int k) { return k >= 30 ? 0.9 : 1.0; }), 30}},
      {"first_ratio_high", {set("first_ratio_max", [](int k) { return k >= 31 ? 1.2 : 1.0; }), 31}},
      {"entropy_collapse", {set("entropy_mean", [](int k) { return 0.5 * std::exp(-5 * share(k)); }), kIterations}},
      {"entropy_rise", {set("entropy_mean", [](int k) { return 0.5 + 2 * share(k); }), kIterations}},
      {"truncated", {set("truncated_share", [](int k) { return 0.6 * share(k); }), kIterations}},
      {"eval_truncated", {set("eval_truncated_share", [](int) { return 0.5; }), kIterations}},
      {"no_answer", {set("verdict_no_answer", from_40(400)), 55}},
      {"zero_spread", {set("groups_zero_spread_share", [](int k) { return share(k); }), kIterations}},
      {"clipped", {set("clip_share_high", from_40(0.32)), kIterations}},
      {"kl_from_sampler", {set("kl_old", from_40(0.2)), kIterations}},
      {"drift_grows",
       {[](Json& row, int k) {
          if (k > 0) row.update({{"kl_old", 0.01 + 0.05 * share(k)}, {"staleness_max", 2}});
        }, kIterations}},
      {"kl_from_reference", {set("kl_reference", [](int k) { return 2 * share(k); }), kIterations}},
      {"few_effective_samples", {set("effective_sample_share", [](int k) { return 1 - 0.9 * share(k); }), kIterations}},
      {"gradient_spikes", {set("gradient_norm", [](int k) { return k == 25 || k == 26 ? 12.0 : 0.5; }), 25}},
      {"steps_skipped", {set("steps_skipped", [](int k) { return k % 5 == 2 ? 1 : 0; }), 2}},
      {"only_wrong_answers_grow", {set("response_length_correct_mean", [](int) { return 17.0; }), kIterations}},
      {"length_collapse", {set("response_length_mean", [](int k) { return 100 * std::exp(-2 * share(k)); }), kIterations}},
      {"reward_without_accuracy",
       {[](Json& row, int k) {
          if (k % 5 != 0) return;
          const double accuracy = k <= 30 ? 0.3 + 0.4 * k / 30 : 0.7 - 0.3 * (k - 30) / 30;
          row.update({{"eval_accuracy", accuracy}, {"eval_accuracy_low", accuracy - 0.02}, {"eval_accuracy_high", accuracy + 0.02}});
        }, 30}},
      {"reward_lost", {set("reward_mean", [](int k) { return k <= 40 ? 0.3 + 0.01 * k : 0.2; }), 40}},
      {"critic_useless", {set("explained_variance", [](int k) { return 0.2 - share(k); }), kIterations}},
      {"judge_crashed", {set("verdict_crashed", [](int k) { return k == 9 ? 100 : 0; }), 9}},
      {"gold_unusable", {set("verdict_gold_unusable", [](int k) { return k >= 5 ? 2 : 0; }), 5}},
      {"timed_out", {set("verdict_timed_out", [](int k) { return k >= 7 ? 20 : 0; }), 7}},
      {"slow_tail", {set("tail_share", [](int) { return 0.7; }), kIterations}},
      {"memory_grows", {set("memory_peak_bytes", [](int k) { return 1e8 * (1 + share(k)); }), kIterations}},
  };
}

TEST(Alarms, AreSilentOverAHealthyRun) {
  for (const int iterations : {1, 2, 10, kIterations, 1000})
    EXPECT_TRUE(names_of(alarms_of(run_with([](Json&, int) {}, iterations))).empty()) << iterations;
}

TEST(Alarms, HaveACaseEach) {
  std::set<std::string> rules, tried;
  for (const AlarmRule& rule : alarm_rules()) rules.insert(rule.name);
  for (const auto& [name, unused] : cases()) tried.insert(name);
  EXPECT_EQ(rules, tried);
  EXPECT_EQ(rules.size(), alarm_rules().size());
}

TEST(Alarms, AreTriggeredByTheirOwnTroubleAndNoOther) {
  for (const auto& [name, trouble] : cases()) {
    const std::vector<Alarm> alarms = alarms_of(run_with(trouble.change, kIterations));
    EXPECT_EQ(names_of(alarms), std::set<std::string>{name});
    for (const Alarm& alarm : alarms) EXPECT_EQ(alarm.finding.iteration, trouble.iteration) << alarm.line();
  }
}

TEST(Alarms, LeaveStaleSamplesAndSolvedProblemsAlone) {
  EXPECT_TRUE(alarms_of(run_with(
                            [](Json& row, int k) {
                              if (k > 0) row.update({{"staleness_max", 1}, {"log_prob_gap_max", 0.5}, {"first_ratio_max", 1.5}});
                            },
                            kIterations)).empty());
  EXPECT_TRUE(alarms_of(run_with(
                            [](Json& row, int k) {
                              if (k > 0) row.update({{"entropy_mean", 0.5 * std::exp(-5 * share(k))}, {"accuracy", 0.99}});
                            },
                            kIterations)).empty());
}

TEST(Alarms, TellAFallOfAccuracyFromNoiseByItsIntervals) {
  const auto change = [](double half) {
    return [=](Json& row, int k) {
      if (k % 5 != 0) return;
      const double accuracy = k <= 30 ? 0.3 + 0.4 * k / 30 : 0.7 - 0.1 * (k - 30) / 30;
      row.update({{"eval_accuracy", accuracy}, {"eval_accuracy_low", accuracy - half}, {"eval_accuracy_high", accuracy + half}});
    };
  };
  EXPECT_EQ(names_of(alarms_of(run_with(change(0.04), kIterations))), std::set<std::string>{"reward_without_accuracy"});
  EXPECT_TRUE(alarms_of(run_with(change(0.06), kIterations)).empty());
}

TEST(Alarms, AreDocumented) {
  const std::string text = report_runs::text_of_file(fs::path(MAXPLUS_TEST_DATA).parent_path().parent_path() / "docs" / "report.md");
  EXPECT_NE(text.find(alarms_markdown()), std::string::npos) << "docs/report.md must hold:\n" << alarms_markdown();
}

}  // namespace
}  // namespace maxplus
