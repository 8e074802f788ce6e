// The verifiers of the tasks that are drawn from counters.
#include <gtest/gtest.h>

#include "verify/score_line.hpp"
#include "verify/verifier.hpp"

namespace maxplus {
namespace {

constexpr Verdict fits = Verdict::correct, fails = Verdict::wrong, mute = Verdict::no_answer,
                  bad_gold = Verdict::gold_unusable;

struct TaskCase {
  const char* answer;  // JSON
  std::string inside;  // of the tag; "-": no tag at all
  Verdict verdict;
};

std::shared_ptr<const Verifier> task_verifier(std::string_view name) {
  return make_verifier(name, {}, VerifierSettings(), "[reward]", Locate());
}

void check_cases(const char* name, const std::vector<TaskCase>& cases) {
  for (const TaskCase& c : cases) {
    Problem problem;
    problem.answer = Json::parse(c.answer);
    const std::string response = c.inside == "-" ? "I do not know" : "so <answer>" + c.inside + "</answer> it is";
    const Assessment a = task_verifier(name)->assess(problem, Rollout(), response);
    EXPECT_EQ(name_of(a.verdict), name_of(c.verdict)) << name << ": " << c.answer << " <- " << c.inside;
    EXPECT_EQ(a.reward, c.verdict == fits ? 1.0F : 0.0F);
  }
}

TEST(ArithmeticVerifier, TakesAnInteger) {
  check_cases("arithmetic", {{"12", "12", fits},
                             {"12", " 12\n", fits},
                             {"12", "012", fits},
                             {"\"12\"", "12", fits},
                             {"-3", "-3", fits},
                             {"-3", "-03", fits},
                             {"0", "-0", fits},
                             {"12", "13", fails},
                             {"12", "12.0", fails},
                             {"12", "=12", fails},
                             {"12", "+12", fails},
                             {"12", "1 2", fails},
                             {"12", "twelve", fails},
                             {"12", "-", mute},
                             {"12", "", mute},
                             {"12", " ", mute},
                             {"12", "--12", fails},
                             {"-1", "- 1", fails},
                             {"\"123456789012345678901234567890\"", "123456789012345678901234567890", fits},
                             {"1.5", "1.5", bad_gold},
                             {"null", "1", bad_gold},
                             {"\"\"", "", bad_gold},
                             {"[1]", "1", bad_gold},
                             {"true", "1", bad_gold}});
  check_cases("letter_counting",
              {{"3", "3", fits}, {"0", "0", fits}, {"3", "2", fails}, {"3", "-", mute}, {"\"x\"", "3", bad_gold}});
}

TEST(SortingVerifier, TakesTheGivenNumbersInOrder) {
  check_cases(
      "sorting",
      {{"[5, 3, 9]", "3 5 9", fits},  {"[3, 5, 9]", "3, 5, 9", fits}, {"[5, 3, 9]", "3,5 ,9", fits},
       {"\"9 3 5\"", "3 5 9", fits},  {"[5, 3, 5]", "3 5 5", fits},   {"[-2, 1, -30]", "-30 -2 1", fits},
       {"[5, 3, 9]", "03 5 9", fits}, {"[5, 3, 9]", "5 3 9", fails},  {"[5, 3, 5]", "3 5", fails},
       {"[5, 3]", "3 5 5", fails},    {"[5, 3, 9]", "3 5 8", fails},  {"[5, 3]", "3 5.", fails},
       {"[5, 3]", "3,,5", fails},     {"[5, 3]", ",3 5", fails},      {"[5, 3]", "3 5,", fails},
       {"[5, 3]", "3;5", fails},      {"[5, 3]", "[3 5]", fails},     {"[5, 3]", "9999999999999999999 5", fails},
       {"[5, 3]", "-", mute},         {"[5, 3]", "", mute},           {"{\"numbers\": [5, 3]}", "3 5", fits},
       {"[]", "", bad_gold},          {"[5, \"a\"]", "5", bad_gold},  {"[1.5]", "1.5", bad_gold},
       {"\"a b\"", "a b", bad_gold},  {"null", "1", bad_gold},        {"7", "7", bad_gold}});
}

TEST(GraphPathsVerifier, TakesAnyPath) {
  const char* given = R"({"edges": [["a","b"],["b","c"],["c","d"],["a","d"],["x","y"]], "from": "a", "to": "c"})";
  check_cases("graph_paths", {{given, "a-b-c", fits},
                              {given, "a b c", fits},
                              {given, "a -> d -> c", fits},
                              {given, "a,d,c", fits},
                              {given, "a→b→c", fits},
                              {given, "a-c", fails},
                              {given, "c-b-a", fails},
                              {given, "a-b", fails},
                              {given, "b-c", fails},
                              {given, "a-b-a-d-c", fails},
                              {given, "abc", fails},
                              {given, "a-b-c-b-c", fails},
                              {given, "a-z-c", fails},
                              {given, "-", mute},
                              {given, "", mute},
                              {given, "-,>", fails}});
}

TEST(GraphPathsVerifier, TakesAShortestPathWhereItIsAskedFor) {
  const char* given =
      R"({"edges": [["a","b"],["b","c"],["c","d"],["a","e"],["e","d"]], "from": "a", "to": "d", "shortest": true})";
  check_cases("graph_paths", {{given, "a-e-d", fits}, {given, "a-b-c-d", fails}});
  const char* directed = R"({"edges": [[1,2],[2,3],[3,1]], "from": 1, "to": 3, "directed": true})";
  check_cases("graph_paths", {{directed, "1 2 3", fits}, {directed, "1 3", fails}});
  const char* at_home = R"({"edges": [["a","b"]], "from": "a", "to": "a", "shortest": true})";
  check_cases("graph_paths", {{at_home, "a", fits}, {at_home, "a-b-a", fails}});
}

TEST(GraphPathsVerifier, SaysWhereNothingCanBeJudged) {
  for (const char* given :
       {R"({"edges": [["a","b"]], "from": "a", "to": "c"})", R"({"edges": [["a","b"]], "from": "a"})",
        R"({"edges": [["a"]], "from": "a", "to": "b"})", R"({"edges": "a-b", "from": "a", "to": "b"})",
        R"({"edges": [["a", null]], "from": "a", "to": "b"})", "null", "5",
        R"({"edges": [["b","a"]], "from": "a", "to": "b", "directed": true})"}) {
    check_cases("graph_paths", {{given, "a-b", bad_gold}});
  }
  EXPECT_EQ(
      Json::parse(score_line(
          *task_verifier("graph_paths"),
          R"({"id": 1, "response": "<answer>a-b</answer>", "edges": [["a","b"]], "from": "a", "to": "b", "answer": "a-b"})",
          "f:1"))["verdict"],
      "correct")
      << "given beside the answer";
}

}  // namespace
}  // namespace maxplus
