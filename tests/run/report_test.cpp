#include "run/report.hpp"

#include <cmath>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "run/json_lines.hpp"
#include "run/report_chart.hpp"
#include "run/report_data.hpp"

namespace maxplus {
namespace {

namespace fs = std::filesystem;

std::string page(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

int count(const std::string& text, const std::string& what) {
  int n = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

Json rollout(int iteration, int index, double reward, const std::string& response) {
  return {{"iteration", iteration}, {"rollout_id", "00000" + std::to_string(iteration) + "-00-000000-000" + std::to_string(index)},
          {"prompt", "9 3 6 = 12 :"}, {"response", response}, {"reward", reward}, {"verdict", reward > 0 ? "correct" : "wrong"},
          {"response_ids", {1, 2, 3}}};
}

// A run of `iterations` whose values are known functions of the iteration.
fs::path fake_run(const std::string& name, int iterations) {
  const fs::path folder = fs::path(::testing::TempDir()) / "maxplus_report" / name;
  fs::remove_all(folder);
  fs::create_directories(folder);
  JsonLinesWriter metrics(folder / "metrics.jsonl"), rollouts(folder / "rollouts.jsonl");
  for (int k = 0; k <= iterations; ++k) {
    Json row = {{"schema", 1}, {"iteration", k}, {"ranks", 2}, {"nodes", 1}, {"elapsed_s", 30.0 + 3 * k}, {"weights_hash", "00ff"}};
    if (k % 5 == 0) {
      row["eval_accuracy"] = 0.3 + 0.6 * k / iterations;
      row["eval_accuracy_sampled"] = 0.28 + 0.6 * k / iterations;
      row["seconds_evaluation"] = 0.8;
    }
    if (k > 0) {
      const double x = static_cast<double>(k) / iterations;
      row.update({{"reward_mean", 0.35 + 0.55 * x}, {"response_length_mean", 18 + 24 * x}, {"response_length_correct_mean", 17 + 20 * x},
                  {"response_length_wrong_mean", 20 + 60 * x}, {"entropy_mean", 0.5 - 0.3 * x}, {"ratio_min", 0.6 - 0.1 * x},
                  {"ratio_mean", 1.0}, {"ratio_max", 1.6 + std::sin(9 * x)}, {"clip_share_low", 0.01 * x}, {"clip_share_high", 0.02 * x},
                  {"kl_old", 1e-4 * x}, {"gradient_norm", 0.9 - 0.5 * x}, {"groups_zero_spread_share", 0.2 + 0.5 * x}, {"truncated_share", 0.05},
                  {"seconds_generation", 1.0 + x}, {"seconds_assessment", 0.1}, {"seconds_training", 1.5}, {"generation_tokens_per_s", 21000 - 3000 * x},
                  {"training_tokens_per_s", 12000.0}});
      for (int i = 0; i < 7; ++i) {
        rollouts.write(rollout(k, i, i == 4 ? 1 : i == 2 ? -0.5 : 0, "9 - 3 = 6 <b>&" + std::to_string(i) + "</b> it " + std::to_string(k)));
      }
    }
    metrics.write(row);
  }
  std::ofstream(folder / "manifest.json") << R"({"title": "fill in <the> operators", "processor": "An AMD thing", "threads": 1, "exit": "finished"})";
  return folder;
}

TEST(RoundTicks, AreRoundAndSpanTheData) {
  EXPECT_EQ(round_ticks(0, 1, 5), (std::vector<double>{0, 0.2, 0.4, 0.6000000000000001, 0.8, 1}));
  EXPECT_EQ(round_ticks(0, 97, 5), (std::vector<double>{0, 20, 40, 60, 80, 100}));
  const auto ticks = round_ticks(-0.03, 0.004, 5);
  EXPECT_LE(ticks.front(), -0.03);
  EXPECT_GE(ticks.back(), 0.004);
}

TEST(TickText, TellsTicksApart) {
  EXPECT_EQ(tick_text(0.6000000000000001, 0.2), "0.6");
  EXPECT_EQ(tick_text(20, 20), "20");
  EXPECT_EQ(tick_text(25000, 5000), "25k");
  EXPECT_EQ(tick_text(0, 0.1), "0");
  EXPECT_EQ(tick_text(2e-5, 2e-5), "20e-6");
  EXPECT_EQ(tick_text(1e-4, 2e-5), "100e-6");
  EXPECT_EQ(tick_text(5000, 5000), "5k");
  EXPECT_EQ(tick_text(1.001, 0.001), "1.001");
}

TEST(SvgOf, PutsPointsWhereTheNumbersSay) {
  Chart chart;
  chart.title = "a < b";
  chart.series = {{"one", {0, 10}, {0, 100}}};
  const std::string svg = svg_of(chart);
  // The plot is 446 wide from 58, and 220 high from 84; the y axis goes from 0 to 100.
  EXPECT_NE(svg.find("points='58.00,304.00 504.00,84.00'"), std::string::npos) << svg;
  EXPECT_NE(svg.find("a &lt; b"), std::string::npos);
  for (const char* tick : {">0</text>", ">20</text>", ">100</text>", ">10</text>", ">iteration</text>"}) {
    EXPECT_NE(svg.find(tick), std::string::npos) << tick;
  }
}

TEST(SvgOf, StacksAreasOnEachOther) {
  Chart chart;
  chart.style = Chart::Style::stacked;
  chart.series = {{"a", {1, 2}, {1, 1}}, {"b", {1, 2}, {1, 3}}};
  const std::string svg = svg_of(chart);
  // The sum goes up to 4, which is the top of the axis; a's top edge, at 1, is b's lower edge. An iteration is 223 wide.
  EXPECT_NE(svg.find("points='58.00,249.00 281.00,249.00 281.00,249.00 504.00,249.00 "), std::string::npos) << svg;
  EXPECT_NE(svg.find("points='58.00,194.00 281.00,194.00 281.00,84.00 504.00,84.00 504.00,249.00 281.00,249.00 281.00,249.00 58.00,249.00'"),
            std::string::npos) << svg;
}

TEST(SvgOf, DrawsOnePointAConstantAndNothing) {
  for (const std::vector<double>& y : {std::vector<double>{}, std::vector<double>{3}, std::vector<double>{2, 2, 2}, std::vector<double>{0, std::nan(""), 0}}) {
    for (const bool from_zero : {true, false}) {
      Chart chart;
      chart.from_zero = from_zero;
      Series s;
      s.y = y;
      for (std::size_t i = 0; i < y.size(); ++i) s.x.push_back(static_cast<double>(i));
      chart.series = {s};
      const std::string svg = svg_of(chart);
      EXPECT_EQ(svg.find("nan"), std::string::npos);
      EXPECT_EQ(svg.find("inf"), std::string::npos);
    }
  }
}

TEST(Report, NamesEverythingAndEscapesWhatModelsWrite) {
  const fs::path run = fake_run("first", 20);
  write_report({run}, run / "report");
  const std::string html = page(run / "report" / "index.html");
  for (const char* text : {"fill in &lt;the&gt; operators", "An AMD thing", "2 on 1 machine", "1 min 30 s", "0.3 → 0.9", "Learning curve", "Response length",
                           "Entropy", "Probability ratio", "Clipped tokens", "KL divergence", "Gradient norm", "Time by stage", "Tokens a second",
                           "held-out accuracy, greedy", "held-out accuracy, sampled", "Before: iteration 1<", "After: iteration 20<",
                           "&lt;b&gt;&amp;4&lt;/b&gt; it 1<", "&lt;b&gt;&amp;4&lt;/b&gt; it 20<", "<b>reward 1.0</b>", "<b>reward -0.5</b>"}) {
    EXPECT_NE(html.find(text), std::string::npos) << text;
  }
  EXPECT_EQ(html.find("<b>&"), std::string::npos);
  EXPECT_EQ(html.find("<script"), std::string::npos);
  EXPECT_EQ(html.find("http"), html.find("http://www.w3.org/2000/svg"));
  EXPECT_EQ(count(html, "http"), count(html, "http://www.w3.org/2000/svg"));
  EXPECT_EQ(count(html, "<figcaption>"), count(html, "<svg "));
  EXPECT_EQ(count(html, "<div class='rollout "), 8);
  for (const char* name : {"learning", "lengths", "entropy", "ratio", "clip", "kl", "gradient", "stages", "speed"}) {
    EXPECT_NE(page(run / "report" / (std::string(name) + ".svg")).find("</svg>"), std::string::npos) << name;
  }
}

TEST(Report, ShowsSeveralRunsInOneFigure) {
  const fs::path a = fake_run("first", 10), b = fake_run("second", 20), out = a.parent_path() / "both";
  write_report({a, b}, out);
  const std::string svg = page(out / "learning.svg");
  EXPECT_NE(svg.find("first: mean reward"), std::string::npos);
  EXPECT_NE(svg.find("second: mean reward"), std::string::npos);
  EXPECT_TRUE(fs::exists(out / "stages-2.svg"));
}

TEST(Report, OfARunThatHasHardlyBegunIsWhole) {
  const fs::path run = fake_run("begun", 1);
  fs::remove(run / "manifest.json");
  fs::remove(run / "rollouts.jsonl");
  std::ofstream(run / "metrics.jsonl") << "{\"schema\":1,\"iteration\":0,\"eval_accuracy\":0.5}\n{\"iteration\":1,\"rew";
  write_report({run}, run / "report");
  EXPECT_NE(page(run / "report" / "index.html").find("</html>"), std::string::npos);
}

TEST(Report, RefusesAFolderThatIsNoRun) {
  try {
    write_report({fs::path(::testing::TempDir()) / "maxplus_no_such_run"}, fs::path(::testing::TempDir()) / "maxplus_out");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::no_input);
  }
}

TEST(ExamplesOf, AreBestWorstAndOthersWithoutRepetition) {
  std::vector<Json> records;
  for (int i = 0; i < 9; ++i) records.push_back(rollout(1, i, i == 4 ? 2 : i == 7 ? -1 : 0, ""));
  const auto examples = examples_of(records);
  ASSERT_EQ(examples.size(), 4u);
  EXPECT_EQ(examples[0].record, &records[4]);
  EXPECT_EQ(examples[1].record, &records[7]);
  records.resize(1);
  EXPECT_EQ(examples_of(records).size(), 1u);
  EXPECT_TRUE(examples_of({}).empty());
}

}  // namespace
}  // namespace maxplus
