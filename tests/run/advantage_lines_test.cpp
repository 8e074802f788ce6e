#include "run/advantage_lines.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "rl/sample.hpp"

namespace maxplus {
namespace {

constexpr double kLineTolerance = 1e-12;  // stated with the golden values

std::vector<Json> golden_of_kind(const std::string& kind) {
  std::ifstream file(std::string(MAXPLUS_TEST_DATA) + "/rl/advantages.jsonl");
  std::vector<Json> cases;
  for (std::string line; std::getline(file, line);) {
    Json c = Json::parse(line);
    if (c["kind"] == kind) cases.push_back(std::move(c));
  }
  return cases;
}

// The answers of the command to these lines.
std::vector<Json> answers(const std::vector<Json>& lines, const AdvantageOptions& options, const std::vector<std::string>& set) {
  const std::filesystem::path path = std::filesystem::path(::testing::TempDir()) / "maxplus_advantage.jsonl";
  std::ofstream file(path);
  for (const Json& line : lines) file << line.dump() << "\n";
  file.close();
  CommandLine command;
  command.command = Command::advantage;
  command.file = path.string();
  command.advantage = options;
  command.set = set;
  std::vector<Json> result;
  for (const std::string& line : advantage_lines(command)) result.push_back(Json::parse(line));
  return result;
}

std::vector<Json> parsed(const std::vector<std::string>& texts) {
  std::vector<Json> lines;
  for (const std::string& text : texts) lines.push_back(Json::parse(text));
  return lines;
}

AdvantageOptions estimator(const std::string& name) {
  AdvantageOptions options;
  options.estimator = name;
  return options;
}

ExitCode refusal(const std::vector<Json>& lines, const AdvantageOptions& options, const std::vector<std::string>& set) {
  try {
    answers(lines, options, set);
  } catch (const Error& error) {
    return error.code();
  }
  return ExitCode::ok;
}

TEST(AdvantageLines, AgreeWithTheGoldenGroupsWhoseMembersAreAnywhereInTheFile) {
  int checked = 0;
  for (const Json& c : golden_of_kind("group")) {
    const std::string method = c["method"];
    if (method == "batch_all") continue;  // the batch's mean as baseline is no estimator of the command
    SCOPED_TRACE(c["name"].get<std::string>());
    AdvantageOptions options = estimator(method == "rloo" ? "rloo" : method == "mean" ? "dr_grpo" : "grpo");
    if (!c["std_ddof"].is_null()) {
      options.std = c["std_ddof"] == 0 ? "n" : "n-1";
      options.scope = method == "batch_std" ? "batch" : "group";
      options.epsilon = c["eps"].get<double>();
    }
    struct Member {
      Json line;
      double advantage;
      std::size_t place;
    };
    std::vector<Member> members;
    std::size_t next = 0;
    for (std::size_t g = 0; g < c["groups"].size(); ++g) {
      for (std::size_t k = 0; k < c["groups"][g].size(); ++k, ++next)
        members.push_back({Json{{"group", g}, {"reward", c["groups"][g][k]}}, c["advantages"][next], k});
    }
    std::stable_sort(members.begin(), members.end(), [](const Member& a, const Member& b) { return a.place < b.place; });
    std::vector<Json> lines;
    for (const Member& member : members) lines.push_back(member.line);
    const std::vector<Json> ours = answers(lines, options, {});
    for (std::size_t i = 0; i < members.size(); ++i) {
      EXPECT_NEAR(ours[i]["advantage"].get<double>(), members[i].advantage, kLineTolerance);
      if (members[i].advantage == 0) {
        EXPECT_EQ(ours[i]["advantage"].get<double>(), 0.0);
      }
    }
    ++checked;
  }
  EXPECT_EQ(checked, 22);
}

TEST(AdvantageLines, AgreeWithTheGoldenGae) {
  for (const Json& c : golden_of_kind("gae")) {
    SCOPED_TRACE(c["name"].get<std::string>());
    AdvantageOptions options = estimator("gae");
    options.gamma = c["gamma"].get<double>();
    options.lambda = c["lam"].get<double>();
    Json line = {{"group", "a"}, {"reward", c["rewards"]}, {"value", c["values"]}, {"finish", c["end"] == "truncated" ? "length" : "stopped"}};
    if (c["end"] == "truncated") line["value"].push_back(c["bootstrap_value"]);
    const Json ours = answers({line}, options, {}).front();
    for (std::size_t t = 0; t < c["advantages"].size(); ++t) {
      EXPECT_NEAR(ours["advantage"][t].get<double>(), c["advantages"][t].get<double>(), kLineTolerance);
      EXPECT_NEAR(ours["return"][t].get<double>(), c["returns"][t].get<double>(), kLineTolerance);
    }
  }
}

TEST(AdvantageLines, OfGaeBootstrapFromTheLastTrainableTokenOfACutRollout) {
  AdvantageOptions options = estimator("gae");
  const Json line = Json::parse(
      R"({"group": 1, "reward": 2, "value": [0.5, null, 0.25, null], "trainable": [1, 0, 1, 0], "finish": "length"})");
  const Json cut = answers({line}, options, {}).front();
  EXPECT_EQ(cut["advantage"], Json({1.75, 0.0, 2.0, 0.0}));  // (2 + 0.25 - 0.25) and 0.25 - 0.5 + that
  Json whole = line;
  whole["finish"] = "stopped";
  EXPECT_EQ(answers({whole}, options, {}).front()["advantage"], Json({1.5, 0.0, 1.75, 0.0}));
}

TEST(AdvantageLines, OfReinforcePlusPlusWeighTokensAndTakeTheKlAtItsToken) {
  const std::vector<Json> lengths = parsed({R"({"group": 1, "reward": 1, "length": 3})", R"({"group": 2, "reward": 0, "length": 1})"});
  const std::vector<Json> plain = answers(lengths, estimator("reinforce_pp"), {});
  const double deviation = std::sqrt(3.0 / 16 + 1e-8);  // mean 3/4, variance (3 / 16 + 9 / 16) / 4
  EXPECT_NEAR(plain[0]["advantage"].get<double>(), 0.25 / deviation, kLineTolerance);
  EXPECT_NEAR(plain[1]["advantage"].get<double>(), -0.75 / deviation, kLineTolerance);
  const std::vector<Json> with_kl =
      parsed({R"({"group": 1, "reward": 1, "log_prob": [-1.0, -2.0], "reference_log_prob": [-2.0, -2.5]})"});
  AdvantageOptions options = estimator("reinforce_pp");
  options.std = "none";
  const Json ours = answers(with_kl, options, {"algorithm.kl=k1", "algorithm.kl_coefficient=0.5"}).front();
  EXPECT_EQ(ours["advantage"], Json({0.25, 0.75}));  // 1 - 0.5 (1 + 0.5), 1 - 0.5 * 0.5
}

TEST(AdvantageLines, AreRefusedWhereTheyCannotBeUsed) {
  const std::vector<Json> good = parsed({R"({"group": 1, "reward": 1})", R"({"group": 1, "reward": 0})"});
  for (const char* name : {"grpo", "dr_grpo", "rloo", "reinforce_pp", "reinforce_pp_baseline", "maxrl", "opmd"})
    EXPECT_EQ(refusal(good, estimator(name), {}), ExitCode::ok) << name;
  EXPECT_EQ(refusal(good, estimator("gea"), {}), ExitCode::usage);
  EXPECT_EQ(refusal(good, estimator("gae"), {}), ExitCode::data);  // no values
  AdvantageOptions options = estimator("grpo");
  options.lambda = 0.5;
  EXPECT_EQ(refusal(good, options, {}), ExitCode::usage);
  options = estimator("maxrl");
  options.std = "n";
  EXPECT_EQ(refusal(good, options, {}), ExitCode::usage);
  EXPECT_EQ(refusal(parsed({R"({"group": 1, "reward": "x"})"}), estimator("grpo"), {}), ExitCode::data);
  EXPECT_EQ(refusal(parsed({R"({"group": 1, "reward": 1, "length": 2, "trainable": [1]})"}), estimator("grpo"), {}), ExitCode::data);
  EXPECT_EQ(refusal(good, estimator("rloo"), {"algorithm.kl=k1"}), ExitCode::data);  // without log-probabilities
}

}  // namespace
}  // namespace maxplus
