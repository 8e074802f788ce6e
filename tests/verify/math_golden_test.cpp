// The judge `math` against verdicts on which another program and a reader agreed (413 cases), and against a reader's
// judgement where those two differ (77 cases), with the policies of the published grammar.
#include <fstream>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "verify/verifier.hpp"

namespace maxplus {
namespace {

constexpr double kAgreement = 0.99;  // of the 413; what is wrong may never be called correct

std::vector<Json> read_cases(const std::string& name) {
  std::ifstream file(MAXPLUS_TEST_DATA "/verify/" + name);
  std::vector<Json> cases;
  for (std::string line; std::getline(file, line);) cases.push_back(Json::parse(line));
  return cases;
}

Assessment assess(const Json& line) {
  static const auto verifier = make_verifier("math", nlohmann::json::object(), VerifierSettings(), "[reward]", Locate());
  Problem problem;
  problem.answer = line["gold"];
  return verifier->assess(problem, Rollout(), line["response"].get<std::string>());
}

std::string shown(const Json& line, const Assessment& a) {
  return "case " + line["id"].dump() + ": gold " + line["gold"].dump() + ", took '" + a.extracted + "', said " + std::string(name_of(a.verdict));
}

TEST(MathGolden, AgreesInNinetyNineOfAHundredAndAcceptsNothingWrong) {
  const std::vector<Json> cases = read_cases("math_cases.jsonl");
  ASSERT_EQ(cases.size(), 413U);
  std::map<std::string, std::pair<int, int>> agreed;  // by level: agreed, all
  int agreements = 0;
  for (const Json& line : cases) {
    const Assessment a = assess(line);
    const bool wanted = line["verdict"] == "correct", got = a.verdict == Verdict::correct;
    EXPECT_FALSE(got && !wanted) << "false accept: " << shown(line, a);
    EXPECT_NE(a.verdict, Verdict::gold_unusable) << shown(line, a);
    EXPECT_EQ(a.reward, got ? 1.0F : 0.0F);
    auto& [good, all] = agreed[line["level"].get<std::string>()];
    good += got == wanted ? 1 : 0;
    ++all;
    agreements += got == wanted ? 1 : 0;
    if (got != wanted) std::printf("differs: %s\n", shown(line, a).c_str());
  }
  for (const auto& [level, counts] : agreed) std::printf("%-9s %d of %d agree\n", level.c_str(), counts.first, counts.second);
  EXPECT_GE(agreements, kAgreement * static_cast<double>(cases.size()));
}

TEST(MathGolden, FollowsItsPoliciesWhereReadersDiffer) {
  // Where the published grammar decides otherwise than the reader did.
  const std::map<int, Verdict> ours = {
      {53, Verdict::wrong},          // 100\% for 100: a percent sign is a hundredth, on either side
      {58, Verdict::gold_unusable},  // an empty gold answer
      {59, Verdict::gold_unusable},  // "as drawn"
      {70, Verdict::wrong},          // 500 cm for 5 m: units are not converted
  };
  const std::vector<Json> cases = read_cases("math_debatable.jsonl");
  ASSERT_EQ(cases.size(), 77U);
  for (const Json& line : cases) {
    const Assessment a = assess(line);
    const auto policy = ours.find(line["id"].get<int>());
    const Verdict wanted = policy != ours.end() ? policy->second : line["judgement"] == "correct" ? Verdict::correct : Verdict::wrong;
    if (wanted == Verdict::wrong)
      EXPECT_TRUE(a.verdict == Verdict::wrong || a.verdict == Verdict::no_answer) << shown(line, a);
    else
      EXPECT_EQ(name_of(a.verdict), name_of(wanted)) << shown(line, a);
  }
}

}  // namespace
}  // namespace maxplus
