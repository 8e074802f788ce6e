// The page as a whole.
#include "run/report/report.hpp"

#include "base/error.hpp"
#include "run/report/rollout_panel.hpp"
#include "run/report_runs.hpp"
#include "run/text_choice.hpp"

namespace maxplus {
namespace {

using report_runs::count;
using report_runs::healthy_run;
using report_runs::text_of_file;
namespace fs = std::filesystem;

void write_plain_report(const std::vector<fs::path>& runs, const fs::path& out) { write_report(runs, out, {}); }

TEST(Report, NamesEverythingAndEscapesWhatModelsWrite) {
  const fs::path run = healthy_run("first", 20);
  write_plain_report({run}, run / "report");
  const std::string html = text_of_file(run / "report" / "index.html");
  for (const char* text : {"fill in &lt;the&gt; operators", "An AMD thing", "2 on 1 machine", "1 min 30 s", "0.3 → 0.9", "Accuracy", "Response length", "Verdicts",
                           "Entropy", "Probability ratio", "Clipped tokens", "KL divergence", "Gradient norm", "Value loss", "Explained variance",
                           "Sampler against trainer", "Time by stage", "Tokens a second", "held-out, greedy", "held-out, sampled", "Iteration 1: 4 of 7 rollouts",
                           "Iteration 20: 4 of 7 rollouts", "&lt;b&gt;&amp;4&lt;/b&gt; it 1<", "&lt;b&gt;&amp;4&lt;/b&gt; it 20<", "<b>reward 1.0</b>",
                           "<b>reward -0.5</b>", "No alarm: "}) {
    EXPECT_NE(html.find(text), std::string::npos) << text;
  }
  EXPECT_EQ(html.find("<b>&"), std::string::npos);
  EXPECT_EQ(count(html, "<figcaption>"), count(html, "<svg "));
  EXPECT_EQ(count(html, "<article "), 4 * kPanelIterations);
  for (const char* name : {"reward", "accuracy", "verdicts", "lengths", "entropy", "ratio", "clip", "kl", "gap", "gradient", "value_loss", "stages", "speed"}) {
    EXPECT_NE(text_of_file(run / "report" / (std::string(name) + ".svg")).find("</svg>"), std::string::npos) << name;
  }
}

TEST(Report, TakesNothingFromElsewhereAndRunsNothing) {
  const fs::path run = healthy_run("hostile", 2);
  const std::string evil = "</pre></article><script>alert(1)</script><img src=x onerror=alert(2)>\"' <!-- ]]> &lt;";
  std::ofstream(run / "rollouts.jsonl") << report_runs::rollout(1, 0, 1, evil).dump() << "\n";
  std::ofstream(run / "manifest.json") << Json{{"title", evil}, {"processor", evil}, {"exit", evil}}.dump();
  for (const bool with_tokens : {false, true}) {
    if (with_tokens) report_runs::write_deck(run, 1, "1e-3");
    write_plain_report({run}, run / "report");
    const std::string html = text_of_file(run / "report" / "index.html");
    EXPECT_EQ(html.find("<script"), std::string::npos);
    EXPECT_EQ(html.find("<img"), std::string::npos);
    EXPECT_EQ(html.find("<!--"), std::string::npos);
    EXPECT_EQ(count(html, "<article "), count(html, "</article>"));
    EXPECT_EQ(count(html, "<pre"), count(html, "</pre>"));
    EXPECT_EQ(count(html, "http:"), count(html, "http://www.w3.org/2000/svg"));
    EXPECT_EQ(count(html, "https:"), 0);
    EXPECT_EQ(count(html, "url("), 0);
    EXPECT_NE(html.find("default-src 'none'"), std::string::npos);
  }
}

TEST(Report, ColoursTokensByProbabilityAndAdvantage) {
  const fs::path run = healthy_run("tokens", 1);
  report_runs::write_deck(run, 1, "1e-3");
  write_plain_report({run}, run / "report");
  const std::string html = text_of_file(run / "report" / "index.html");
  // Ids 1 2 3 are the words - <b> 3; p is 0.99, unknown and 0.018; advantages are 0.9 for the best, -0.6 for the worst.
  EXPECT_NE(html.find("<i class='u3' title='p 0.99, advantage +0.9'>-</i> <i class='n' title='not drawn by the policy'>&lt;b&gt;</i> "
                      "<i class='p4 u3' title='p 0.0183, advantage +0.9'>3</i>"), std::string::npos);
  EXPECT_NE(html.find("<i class='p4 d2' title='p 0.0183, advantage -0.6'>3</i>"), std::string::npos);
}

// A byte-level tokenizer cuts characters into tokens; a page shows characters, and lone bytes as such.
TEST(Report, ShowsCharactersThatTokensMakeTogether) {
  RunRecord run;
  run.tokenizer = open_tokenizer(fs::path(MAXPLUS_TEST_DATA) / "tokenizers" / "gpt2" / "tokenizer.json");
  std::vector<std::int32_t> ids = run.tokenizer->encode("a\U0001F642\u65E5b<", SpecialText::as_text);
  ASSERT_GT(ids.size(), 5u) << "the test needs a character of several tokens";
  ids.push_back(ids[1]);
  run.rollouts = {{1, 1, {{"best", {{"reward", 0.5}, {"response_ids", ids}}}}}};
  const std::string html = rollout_panel(run, 0, "Rollouts", PanelLimits());
  for (const char* text : {"<i>\U0001F642</i>", "<i>b</i>", "<i>&lt;</i>", "&lt;0xF0&gt;"}) EXPECT_NE(html.find(text), std::string::npos) << text;
  EXPECT_EQ(html.find("\uFFFD"), std::string::npos);
  EXPECT_EQ(count(html, "<i>"), 6 + 2) << "and two in the key of colours";
}

TEST(Report, CutsTheMiddleOfALongResponse) {
  RunRecord run;
  run.tokenizer = make_word_tokenizer("a b");
  Json record = {{"reward", 0.5}, {"response_ids", Json::array()}};
  for (int t = 0; t < 1000; ++t) record["response_ids"].push_back(t % 2);
  run.rollouts = {{1, 1, {{"best", record}}}};
  const std::string html = rollout_panel(run, 0, "Rollouts", {100, 90, 6000});
  EXPECT_EQ(count(html, "<i>a</i>") + count(html, "<i>b</i>"), 90);
  EXPECT_NE(html.find(" … 910 tokens left out … "), std::string::npos);
}

TEST(Report, ShowsSeveralRunsInOneFigure) {
  const fs::path a = healthy_run("first", 10), b = healthy_run("second", 20), out = a.parent_path() / "both";
  write_plain_report({a, b}, out);
  const std::string svg = text_of_file(out / "accuracy.svg");
  EXPECT_NE(svg.find("first: held-out, greedy"), std::string::npos);
  EXPECT_NE(svg.find("second: held-out, greedy"), std::string::npos);
  EXPECT_TRUE(fs::exists(out / "stages-2.svg"));
}

TEST(Report, TakesSeedsOfOneDeckTogether) {
  const fs::path a = healthy_run("seed_one", 10), b = healthy_run("seed_two", 8), out = a.parent_path() / "seeds";
  report_runs::write_deck(a, 1, "1e-3");
  report_runs::write_deck(b, 2, "1e-3");
  write_plain_report({a, b}, out);
  EXPECT_NE(text_of_file(out / "index.html").find("Of several seeds"), std::string::npos);
  const std::string svg = text_of_file(out / "reward.svg");
  EXPECT_EQ(svg.find("seed_two"), std::string::npos);
  EXPECT_EQ(count(svg, "<circle"), 8) << "the iterations that both have";
  report_runs::write_deck(b, 2, "2e-3");
  write_plain_report({a, b}, out);
  EXPECT_NE(text_of_file(out / "reward.svg").find("seed_two"), std::string::npos);
}

TEST(Report, OfARunThatHasHardlyBegunIsWhole) {
  const fs::path run = healthy_run("begun", 1);
  fs::remove(run / "manifest.json");
  fs::remove(run / "rollouts.jsonl");
  std::ofstream(run / "metrics.jsonl") << "{\"schema\":1,\"iteration\":0,\"eval_accuracy\":0.5}\n{\"iteration\":1,\"rew";
  write_plain_report({run}, run / "report");
  const std::string html = text_of_file(run / "report" / "index.html");
  EXPECT_NE(html.find("</html>"), std::string::npos);
  EXPECT_EQ(count(html, "<svg "), 1);
  EXPECT_EQ(html.find("class='panel'"), std::string::npos);
}

TEST(Report, OfStrangeNumbersIsWhole) {
  const fs::path run = report_runs::empty_folder("strange");
  std::ofstream(run / "metrics.jsonl") << R"({"iteration":1,"reward_mean":1e308,"entropy_mean":1e16,"kl_old":-1e308,"reward_std":"x","rollouts":0,"verdict_wrong":3}
{"iteration":2,"reward_mean":-1e308,"entropy_mean":1.0000000000000002e16,"kl_old":1e308,"rollouts":null}
{"iteration":1,"reward_mean":5}
{"iteration":1e300,"reward_mean":5}
[3]
{"iteration":3,"reward_mean":1e999}
)";
  write_plain_report({run}, run / "report");
  for (const auto& entry : fs::directory_iterator(run / "report")) {
    const std::string text = text_of_file(entry.path());
    for (const char* bad : {"nan", "inf'", "inf,", ",inf", "-inf"}) EXPECT_EQ(text.find(bad), std::string::npos) << entry.path() << ": " << bad;
  }
}

TEST(Report, OfTenThousandIterationsStaysSmall) {
  const fs::path run = report_runs::empty_folder("long");
  {
    JsonLinesWriter metrics(run / "metrics.jsonl");
    for (int k = 0; k <= 10000; ++k) metrics.write(report_runs::healthy_row(k, 10000));
  }
  write_plain_report({run}, run / "report");
  const std::string html = text_of_file(run / "report" / "index.html");
  EXPECT_LT(html.size(), 1'500'000u);
  EXPECT_NE(html.find("Of 10000 iterations 322 columns, each with the least and the largest"), std::string::npos);
  EXPECT_NE(html.find("Of 10000 iterations 322 columns, each with the mean"), std::string::npos);
}

TEST(Report, RefusesAFolderThatIsNoRun) {
  try {
    write_plain_report({fs::path(::testing::TempDir()) / "maxplus_no_such_run"}, fs::path(::testing::TempDir()) / "maxplus_out");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::no_input);
  }
}

TEST(Report, TellsAlarmsAtTheTopInLinesAndAsJson) {
  const fs::path run = healthy_run("alarmed", 20);
  {
    JsonLinesWriter metrics(run / "metrics.jsonl");
    Json row = report_runs::healthy_row(20, 20);
    row["iteration"] = 21;
    row["log_prob_gap_max"] = 0.5;
    metrics.write(row);
  }
  const Report report = write_report({run}, run / "report", {});
  ASSERT_EQ(report.alarms.size(), 1u);
  EXPECT_EQ(report.lines().find("alarm: sampler_disagrees: run 'alarmed', iteration 21: log_prob_gap_max is 0.5, above 0.01 (in 1 of 21 iterations); "), 0u)
      << report.lines();
  EXPECT_TRUE(report.lines().ends_with("index.html\n"));
  const Json json = Json::parse(report.json());
  EXPECT_EQ(json["alarms"][0]["alarm"], "sampler_disagrees");
  EXPECT_EQ(json["alarms"][0]["iteration"], 21);
  EXPECT_EQ(json["page"], report.page.string());
  const std::string html = text_of_file(report.page);
  EXPECT_LT(html.find("<b>sampler_disagrees</b>"), html.find("<table>"));
}

TEST(Report, WritesEventsBesideTheRunOrUnderOut) {
  const fs::path run = healthy_run("events", 3), out = report_runs::empty_folder("events_out");
  const Report beside = write_report({run}, run / "report", {ReportOptions::TensorBoard::beside_run});
  ASSERT_EQ(beside.events.size(), 1u);
  EXPECT_EQ(beside.events[0], run / "tensorboard" / "events.out.tfevents.1700000000.maxplus");
  const std::string bytes = text_of_file(beside.events[0]);
  for (const char* text : {"brain.Event:2", "train/reward_mean", "eval/eval_accuracy", "time/seconds_training"})
    EXPECT_NE(bytes.find(text), std::string::npos) << text;
  write_report({run}, run / "report", {ReportOptions::TensorBoard::beside_run});
  EXPECT_EQ(std::distance(fs::directory_iterator(run / "tensorboard"), fs::directory_iterator()), 1);
  const Report under = write_report({run, run}, out, {ReportOptions::TensorBoard::under_out});
  EXPECT_EQ(under.events[1].parent_path(), out / "tensorboard" / "events-2");
  EXPECT_EQ(text_of_file(under.events[0]), bytes);
}

}  // namespace
}  // namespace maxplus
