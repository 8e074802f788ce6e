// What bounds a run, from lines of metrics whose makespan is known.
#include "run/report/schedule_replay.hpp"

#include "run/report/report.hpp"
#include "run/report/timeline.hpp"
#include "run/report_runs.hpp"

namespace maxplus {
namespace {

using report_runs::count;

constexpr double kSumRounding = 1e-9;  // some sums of seconds in other orders

using Line = std::vector<std::pair<const char*, double>>;  // of one iteration, the first is 1

RunRecord recorded(const std::vector<Line>& lines, std::int64_t max_staleness, const char* granularity, bool apart) {
  RunRecord run;
  run.name = "made up";
  run.deck.emplace();
  run.deck->run.iterations = static_cast<std::int64_t>(lines.size());
  run.deck->schedule.max_staleness = max_staleness;
  run.deck->schedule.granularity = granularity;
  run.manifest["rank_map"] = Json::parse(apart ? R"([{"roles": ["generator"]}, {"roles": ["actor"]}])"
                                               : R"([{"roles": ["generator", "actor"]}])");
  for (std::size_t k = 0; k < lines.size(); ++k) {
    for (const auto& [metric, value] : lines[k]) {
      run.metrics[metric].x.push_back(static_cast<double>(k + 1));
      run.metrics[metric].y.push_back(value);
    }
  }
  return run;
}

double share_of(const ScheduleReplay& replay, Stage stage) { return replay.share[static_cast<std::size_t>(stage)]; }
double wait_of(const ScheduleReplay& replay, Stage stage) { return replay.waits_s[static_cast<std::size_t>(stage)]; }

Line drawn_and_trained(double iteration, double generation, double assessment, double training) {
  return {{"seconds_iteration", iteration},
          {"seconds_generation", generation},
          {"seconds_assessment", assessment},
          {"seconds_training", training}};
}

TEST(ScheduleReplay, OneAfterTheOtherIsTheirSumWithWhatComesBetween) {
  std::vector<Line> lines(4, drawn_and_trained(1.0, 0.7, 0.1, 0.2));
  lines[1].push_back({"seconds_evaluation", 0.5});
  lines[2].push_back({"seconds_checkpoint", 0.25});
  const auto replay = replay_schedule(recorded(lines, 0, "iteration", false));
  ASSERT_TRUE(replay);
  EXPECT_NEAR(replay->measured_s, 4.75, kSumRounding);
  EXPECT_NEAR(replay->replayed_s, 4.75, kSumRounding);
  EXPECT_NEAR(replay->from_means_s, 4.75, kSumRounding) << "a sum has no bias";
  EXPECT_EQ(replay->sentence(),
            "generation bounds this run: 59 % of an iteration, training 17 %, evaluation 11 %, assessment 8 %, "
            "checkpoint 5 %");
}

TEST(ScheduleReplay, AheadTheLongerSideBoundsAndTheOtherWaits) {
  // Two drawings before the first training is over, none beside the last.
  std::vector<Line> lines(10, drawn_and_trained(0.65, 0.3, 0.1, 0.6));
  lines.front() = drawn_and_trained(1.05, 0.6, 0.2, 0.6);
  lines.back() = {{"seconds_iteration", 0.65}, {"seconds_training", 0.6}};
  for (Line& line : lines) line.push_back({"seconds_weight_handoff", 0.05});
  const auto replay = replay_schedule(recorded(lines, 1, "iteration", true));
  ASSERT_TRUE(replay);
  EXPECT_NEAR(replay->measured_s, 1.05 + 9 * 0.65, kSumRounding);
  EXPECT_NEAR(replay->replayed_s, replay->measured_s, kSumRounding);
  EXPECT_EQ(replay->first, 1u);
  EXPECT_EQ(replay->last, 8u);
  EXPECT_NEAR(replay->iteration_s(), 0.65, kSumRounding);
  EXPECT_NEAR(wait_of(*replay, Stage::generation), 0.2, kSumRounding);
  EXPECT_EQ(replay->sentence(), "training bounds this run: 92 % of an iteration, hand-off 8 %; generation waits 0.2 s");
  // The same times where one rank has both roles.
  const auto shared = replay_schedule(recorded(lines, 1, "iteration", false));
  ASSERT_TRUE(shared);
  EXPECT_NEAR(shared->iteration_s(), 1.05, kSumRounding);
}

TEST(ScheduleReplay, OfTimesThatChangeTheMeansTellTooLittle) {
  std::vector<Line> lines;
  for (int k = 0; k < 20; ++k)
    lines.push_back(k % 2 == 0 ? drawn_and_trained(4, 4, 0, 1) : drawn_and_trained(4, 1, 0, 4));
  const auto replay = replay_schedule(recorded(lines, 1, "iteration", true));
  ASSERT_TRUE(replay);
  EXPECT_GT(replay->replayed_s, 1.5 * replay->from_means_s);
  EXPECT_NEAR(replay->period_s, 2.6, kSumRounding) << "a training, and the share of the drawing before the first";
}

TEST(ScheduleReplay, FusedTheJudgesRemainderCounts) {
  std::vector<Line> lines(3, drawn_and_trained(1.1, 0.5, 0.8, 0.2));
  for (Line& line : lines) line.push_back({"seconds_drawing", 0.9});  // the first group came after 0.1
  const auto replay = replay_schedule(recorded(lines, 0, "group", true));
  ASSERT_TRUE(replay);
  EXPECT_NEAR(replay->replayed_s, 3.3, kSumRounding);
  EXPECT_NEAR(share_of(*replay, Stage::assessment), 0.9 / 1.1, kSumRounding);
  EXPECT_EQ(replay->sentence(),
            "assessment bounds this run: 82 % of an iteration, training 18 %; generation waits 0.3 s");
}

TEST(ScheduleReplay, DoesNotSpeakOfAJudgeWithoutWork) {
  std::vector<Line> lines(3, drawn_and_trained(0.7, 0.5, 0.001, 0.2));
  for (Line& line : lines) line.push_back({"seconds_drawing", 0.5});
  const auto replay = replay_schedule(recorded(lines, 0, "group", true));
  ASSERT_TRUE(replay);
  EXPECT_EQ(replay->sentence(), "generation bounds this run: 71 % of an iteration, training 29 %");
}

TEST(ScheduleReplay, TellsOfTimeInNoStage) {
  const auto replay =
      replay_schedule(recorded(std::vector<Line>(3, drawn_and_trained(2, 0.5, 0, 0.5)), 0, "iteration", false));
  ASSERT_TRUE(replay);
  EXPECT_NE(replay->sentence().find("; 50 % of the time lies in no stage"), std::string::npos) << replay->sentence();
}

TEST(ScheduleReplay, OfRunsThatDrawNothingOrCannotBeReadIsNothing) {
  EXPECT_FALSE(replay_schedule(RunRecord()));
  const Line trained = {{"seconds_iteration", 1.0}, {"seconds_training", 1.0}};
  EXPECT_FALSE(replay_schedule(recorded(std::vector<Line>(1, trained), 0, "iteration", false)));
  RunRecord no_deck = recorded(std::vector<Line>(1, drawn_and_trained(1, 1, 0, 0)), 0, "iteration", false);
  no_deck.deck.reset();
  EXPECT_FALSE(replay_schedule(no_deck));
  RunRecord changed_by_hand = recorded(std::vector<Line>(1, drawn_and_trained(1, 1, 0, 0)), 0, "iteration", false);
  changed_by_hand.deck->schedule.token_budget = 1;
  EXPECT_FALSE(replay_schedule(changed_by_hand)) << "no max_staleness that such a budget needs";
  for (const double strange : {0.0, -1.0, 1e300}) {
    RunRecord run =
        recorded(std::vector<Line>(3, drawn_and_trained(strange, strange, strange, strange)), 2, "group", true);
    run.manifest["rank_map"] = Json::parse(R"([3, "x", {"roles": 7}])");
    const auto replay = replay_schedule(run);
    EXPECT_EQ(replay.has_value(), strange > 0) << strange;
    if (!replay) continue;
    EXPECT_NE(timeline_svg(timeline_of(*replay, "timeline", ""), ChartUse::page).find("</svg>"), std::string::npos);
  }
}

TEST(Timeline, DrawsEveryRoleWithWhatItIsDoing) {
  std::vector<Line> lines(10, drawn_and_trained(0.65, 0.3, 0.1, 0.6));
  for (Line& line : lines) line.push_back({"seconds_weight_handoff", 0.05});
  const auto replay = replay_schedule(recorded(lines, 1, "iteration", true));
  ASSERT_TRUE(replay);
  const TimelineFigure figure = timeline_of(*replay, "timeline", " of <a>");
  ASSERT_EQ(figure.rows.size(), 2u);
  EXPECT_EQ(figure.rows[0].role, "generator");
  EXPECT_EQ(figure.rows[1].role, "actor");
  ASSERT_EQ(figure.rows[0].bars.size(), 2u);
  ASSERT_EQ(figure.rows[1].bars.size(), 2u);
  const TimelineFigure::Bar &generation = figure.rows[0].bars[0], &training = figure.rows[1].bars[0];
  EXPECT_NEAR(generation.end_s, 0.3, kSumRounding);
  EXPECT_FALSE(generation.critical);
  EXPECT_NEAR(training.begin_s, 0, kSumRounding);
  EXPECT_NEAR(training.end_s, 0.6, kSumRounding);
  EXPECT_TRUE(training.critical);
  const std::string svg = timeline_svg(figure, ChartUse::file);
  EXPECT_EQ(count(svg, "<title>"), 5) << "of the figure and of four bars";
  EXPECT_NE(svg.find(" of &lt;a&gt;"), std::string::npos);
}

TEST(Timeline, StandsInTheReportAndInItsJson) {
  const std::filesystem::path run = report_runs::empty_folder("timeline");
  {
    JsonLinesWriter metrics(run / "metrics.jsonl");
    for (int k = 1; k <= 4; ++k)
      metrics.write(
          {{"iteration", k}, {"seconds_iteration", 1.0}, {"seconds_generation", 0.75}, {"seconds_training", 0.25}});
  }
  report_runs::write_deck(run, 1, "1e-3");
  const Report report = write_report({run}, run / "report", {});
  const Json schedules = Json::parse(report.json()).at("schedules");
  ASSERT_EQ(schedules.size(), 1u);
  EXPECT_EQ(schedules[0].at("run"), "timeline");
  EXPECT_EQ(schedules[0].at("bound"), "generation");
  EXPECT_EQ(schedules[0].at("measured_s"), 4.0);
  EXPECT_EQ(schedules[0].at("replayed_s"), 4.0);
  EXPECT_EQ(schedules[0].at("sentence"), "generation bounds this run: 75 % of an iteration, training 25 %");
  const std::string html = report_runs::text_of_file(run / "report" / "index.html");
  EXPECT_NE(html.find("<b>generation bounds this run: 75 % of an iteration, training 25 %.</b>"), std::string::npos);
  EXPECT_NE(report_runs::text_of_file(run / "report" / "timeline.svg").find("</svg>"), std::string::npos);
}

}  // namespace
}  // namespace maxplus
