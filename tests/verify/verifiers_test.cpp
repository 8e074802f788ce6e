// Table tests of the verifiers, of weighted rewards and of the lines of `score`.
#include "verify/verifier.hpp"

#include <chrono>
#include <limits>
#include <stdexcept>

#include <gtest/gtest.h>

#include "verify/response_text.hpp"
#include "verify/reward_function.hpp"
#include "verify/score_line.hpp"

namespace maxplus {
namespace {

struct Case {
  const char* answer;  // JSON
  std::string response;
  Verdict verdict;
};

std::shared_ptr<const Verifier> make(const char* name, const nlohmann::json& keys) {
  return make_verifier(name, keys, VerifierSettings(), "[reward]", Locate());
}

Assessment assess(const Verifier& verifier, const Json& answer, std::string_view response) {
  Problem problem;
  problem.answer = answer;
  return verifier.assess(problem, Rollout(), response);
}

void check(const char* name, const nlohmann::json& keys, const std::vector<Case>& cases) {
  const auto verifier = make(name, keys);
  for (const Case& c : cases) {
    const Assessment a = assess(*verifier, Json::parse(c.answer), c.response);
    EXPECT_EQ(name_of(a.verdict), name_of(c.verdict)) << name << ": " << c.answer << " <- " << c.response.substr(0, 80) << " took '" << a.extracted << "'";
    EXPECT_EQ(a.reward, c.verdict == Verdict::correct ? 1.0F : 0.0F);
  }
}

constexpr Verdict yes = Verdict::correct, no = Verdict::wrong, none = Verdict::no_answer, unusable = Verdict::gold_unusable, late = Verdict::timed_out;

TEST(ExactVerifier, ComparesTrimmedText) {
  check("exact", {}, {{"\"Paris\"", "Paris", yes}, {"\"Paris\"", " \nParis\t", yes}, {"\"Paris\"", "paris", no}, {"\"Paris\"", "It is Paris", no},
                      {"\"Paris\"", "well <answer> Paris </answer> so", yes}, {"\"Paris\"", "<answer>Rome</answer> <answer>Paris</answer>", yes},
                      {"\"Paris\"", "<answer></answer>", none}, {"\"Paris\"", "", none}, {"\"Paris\"", "  ", none}, {"5", "5", yes}, {"5", "5.0", no},
                      {"\"\"", "", unusable}, {"\" \"", " ", unusable}, {"null", "null", unusable}, {"[1]", "[1]", unusable}, {"{}", "{}", unusable}});
}

TEST(RegexVerifier, TakesTheLastMatch) {
  check("regex", {{"pattern", R"(answer is (\w*))"}}, {{"\"b\"", "answer is a, no, answer is b", yes}, {"\"a\"", "answer is a, no, answer is b", no},
                                                      {"\"a\"", "nothing", none}, {"\"a\"", "answer is ", none}, {"null", "answer is a", unusable}});
  check("regex", {{"pattern", "^ok$"}}, {{"null", "ok", yes}, {"null", "ok\xff", no}, {"null", "not ok", no}, {"\"x\"", "", no}});
  check("regex", {}, {{"\"^a+$\"", "aaa", yes}, {"\"^a+$\"", "aab", no}, {"\"(\"", "(", unusable}, {"null", "a", unusable}, {"\"a(b)c\"", "abc", yes}});
  check("regex", {{"pattern", "(?:)"}}, {{"null", "é€", yes}});  // empty matches must not stand still
}

TEST(RegexVerifier, EndsARunawayPatternAsTimedOut) {
  const auto start = std::chrono::steady_clock::now();
  check("regex", {{"pattern", "(a+)+$"}}, {{"\"a\"", std::string(5000, 'a') + "b", late}});
  check("regex", {{"pattern", "^(?:(a)|b)*$"}}, {{"\"a\"", std::string(3'000'000, 'a') + "c", late}});
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
  check("format", {{"pattern", "(a+)+"}}, {{"null", std::string(5000, 'a') + "b", late}});
}

TEST(NumberVerifier, ComparesExactly) {
  check("number", {}, {{"42", "so it is 42.", yes}, {"42", "42.0", yes}, {"42", "4.2e1", yes}, {"42", "41, then 42", yes}, {"42", "42 and 43", no},
                       {"\"1,234.50\"", "$1234.5", yes}, {"\"3/4\"", "0.75", yes}, {"0.75", "6/8", yes}, {"\"1/3\"", "0.3333333333333333", no}, {"\"1/3\"", "2/6", yes},
                       {"-5", "-5", yes}, {"-5", "\xe2\x88\x92" "5", yes}, {"5", "10-5", yes}, {"-5", "5", no}, {"0", "-0.000", yes}, {"0", "0/7", yes}, {"0", "7/0", none},
                       {"\"100000000000000000000000000000000000000000001\"", "100000000000000000000000000000000000000000001", yes},
                       {"\"100000000000000000000000000000000000000000001\"", "1e44", no}, {"0.1", "0.1", yes}, {"0.1", "0.10000000000000001", no},
                       {"7", "x7", none}, {"7", "the 7th", none}, {"7", "", none}, {"7", "seven", none}, {"7", "8 <answer>7</answer> 9", yes},
                       {"7", "<answer>6 7</answer>", no}, {"7", "<answer></answer> 7", none}, {"7", "5 \\boxed{7} 8", yes}, {"7", "\\boxed{\\text{7}", yes},
                       {"7", "#### 7", yes}, {"\"6*7=42\\n#### 42\"", "42", yes}, {"\"50%\"", "50 %", yes}, {"\"\"", "", unusable}, {"\"NaN\"", "NaN", unusable},
                       {"\"inf\"", "inf", unusable}, {"\"\\u221e\"", "∞", unusable}, {"null", "0", unusable}, {"\"1 2\"", "2", unusable}, {"\"x = 5\"", "5", unusable},
                       {"\"1e9999\"", "1e9999", yes}, {"12", "1,2", no}, {"2", "version 1.2.2", no}});
  check("number", {{"tolerance", 0.01}}, {{"3.14", "3.149", yes}, {"3.14", "3.151", no}, {"\"1/3\"", "0.333", yes}, {"1", "1e9999", no}});
  check("number", {{"relative_tolerance", 0.001}}, {{"1000", "1000.9", yes}, {"1000", "1001.1", no}});
}

TEST(CountdownVerifier, FollowsItsGrammar) {
  const char* given = R"({"numbers": [3, 5, 7], "target": 22})";
  const char* half = R"({"numbers": [1, 2, 4, 6], "target": 8})";  // fractions on the way
  const auto in = [](const std::string& expression) { return "so <answer>" + expression + "</answer>"; };
  const std::string deep = std::string(5000, '(') + "3*5+7" + std::string(5000, ')'), deeper = std::string(100, '(') + "3*5+7" + std::string(100, ')');
  check("countdown", {}, {{given, in("3*5+7"), yes}, {given, in(" 7 + 5 * 3 "), yes}, {given, in("(3*5)+7"), yes}, {given, in("3×5+7"), yes}, {given, in("--3*5+7"), yes},
                          {given, in("3*(5+7)"), no}, {given, in("3*5+7=22"), no}, {given, in("3*5+7 "), yes}, {given, in("22"), no}, {given, in("3+5+7+7"), no}, {given, in("15+7"), no},
                          {given, in("3*5"), no}, {given, in("3**5+7"), no}, {given, in("3*5+7)"), no}, {given, in("(3*5+7"), no}, {given, in("3*5+7//1"), no}, {given, in("3*5+"), no},
                          {given, in("3 5 7"), no}, {given, in("3/(5-5)+7"), no}, {given, in("abs(22)"), no}, {given, in(deep), no}, {given, in(deeper), no}, {given, in("3.0*5+7"), no},
                          {given, in(std::string(2000, '-') + "3*5+7"), no}, {given, in("99999999999999999999*5+7"), no}, {given, in(""), none}, {given, in(" \n"), none}, {given, "3*5+7", none},
                          {given, "<answer>3*5+7", none}, {given, "", none}, {given, in("1") + in("3*5+7"), yes}, {given, in("3*5+7") + in("1"), no}, {given, in("3*5+7") + " <answer>", yes},
                          {half, in("4/(1/2)/6*6"), no}, {half, in("6/(1-2/4)-4"), no}, {R"({"numbers": [1, 2, 6], "target": 12})", in("6/(1/2)"), yes},
                          {R"({"numbers": ["1", "2"], "target": "3"})", in("1+2"), yes}, {R"({"numbers": [1, 2], "target": -1})", in("1-2"), yes},
                          {R"({"numbers": [9223372036854775807, 9223372036854775807, 9223372036854775807], "target": 1})", in("9223372036854775807*9223372036854775807*9223372036854775807"), no},
                          {R"({"numbers": [], "target": 0})", in("0"), unusable}, {R"({"numbers": [1]})", in("1"), unusable}, {"null", in("1"), unusable}, {R"({"numbers": [1.5], "target": 1})", in("1"), unusable}});
  Problem beside;
  beside.answer = 12;
  beside.extra = Json::parse(R"({"numbers": [3, 4]})");
  EXPECT_EQ(make("countdown", {})->assess(beside, Rollout(), in("3*4")).verdict, yes);
}

TEST(OperatorsVerifier, ReadsOnlyWhatFollowsTheLastArrow) {
  const char* given = R"({"numbers": [9, 3, 6], "target": 12})";
  check("operators", {}, {{given, "9 - 3 = 6 - 6 = 0 12 no -> 9 - 3 + 6", yes}, {given, "-> 9 - 3 + 6", yes}, {given, "-> 9 + 3 * 6 -> 9 - 3 + 6", yes}, {given, "-> 9 - 3 + 6 -> 9 + 3 + 6", no},
                          {given, "-> 9 - 3 + 6 6", no}, {given, "-> 9 - 3", no}, {given, "-> 3 + 9 + 0", no}, {given, "-> 9 / 3 + 6", no}, {given, "->", none}, {given, "9 - 3 + 6", none}, {given, "", none},
                          {given, "-> 09 - 3 + 6", no}, {R"({"numbers": [2, 3, 4], "target": 20})", "-> 2 + 3 * 4", yes}, {R"({"numbers": [2, 3, 4], "target": 14})", "-> 2 + 3 * 4", no},
                          {"null", "-> 1 + 1 + 1", unusable}, {R"({"numbers": [1, 2], "target": 3})", "-> 1 + 2", unusable}});
  Problem problem;
  problem.prompt_text = "9 3 6 = 12 :";
  Rollout cut;
  cut.finish = Finish::length;
  EXPECT_EQ(make("operators", {})->assess(problem, Rollout(), "-> 9 - 3 + 6").verdict, yes);
  EXPECT_EQ(make("operators", {})->assess(problem, cut, "-> 9 - 3 + 6").verdict, none);
}

TEST(FormatVerifier, MatchesTheWholeResponse) {
  check("format", {}, {{"null", "<think>a\nb</think> <answer>c</answer>", yes}, {"null", "<think></think><answer>c</answer>\n", yes}, {"null", "x<think>a</think><answer>c</answer>", no},
                       {"null", "<think>a</think><answer></answer>", no}, {"null", "<think>a</think><answer>c</answer><answer>d</answer>", no}, {"null", "<think>a<think>b</think><answer>c</answer>", no}, {"null", "", no}});
  check("format", {{"pattern", "a+"}}, {{"null", "aaa", yes}, {"null", "aaab", no}, {"null", "a\n", no}, {"null", "a\xff", no}});
}

TEST(LengthVerifier, FallsBehindTheTarget) {
  const auto verifier = make("length", {{"minimum", 4}, {"target", 10}, {"maximum", 20}});
  const auto reward = [&](std::size_t tokens) {
    Rollout rollout;
    rollout.token.assign(tokens, 1);
    return verifier->assess(Problem(), rollout, "").reward;
  };
  EXPECT_EQ(reward(1), 0.25F);
  EXPECT_EQ(reward(4), 1.0F);
  EXPECT_EQ(reward(10), 1.0F);
  EXPECT_EQ(reward(15), 0.5F);
  EXPECT_EQ(reward(20), 0.0F);
  EXPECT_EQ(reward(200), 0.0F);
}

TEST(RandomVerifier, IsAFunctionOfSeedAndRollout) {
  const auto verifier = make("random", {{"probability", 0.4}});
  double sum = 0;
  for (std::uint32_t i = 0; i < 4000; ++i) {
    Rollout rollout;
    rollout.id = {i / 100, 0, i % 100, 3};
    const float reward = verifier->assess(Problem(), rollout, "any").reward;
    EXPECT_EQ(reward, verifier->assess(Problem(), rollout, "other").reward);
    sum += reward;
  }
  EXPECT_NEAR(sum / 4000, 0.4, 0.04);  // five standard deviations
  EXPECT_FALSE(verifier->judges());
}

TEST(WordProblemsVerifier, TakesTheLastIntegerOfAnAnswerThatEnded) {
  check("word_problems", {}, {{"13", "8 + 5 = 13", yes}, {"13", "13, I think 12", no}, {"-7", "14-7=-7", yes}, {"7", "14 - 7 = 7.", yes},
                              {"1234", "1,234", yes}, {"1234", "1, 2, 34", no}, {"12", "0012", yes}, {"5", "5 apples and none", yes}, {"5", "3.5", yes},
                              {"5", "five", none}, {"5", "-", none}, {"5", "", none}, {"\"5\"", "5", yes}, {"\" 5 \"", "5", yes}, {"0", "-0", yes},
                              {"99999999999999999999", "99999999999999999999", unusable}, {"\"99999999999999999999\"", "99999999999999999999", yes},
                              {"5.5", "5", unusable}, {"\"x5\"", "5", unusable}, {"\"-\"", "5", unusable}, {"null", "5", unusable}, {"{}", "5", unusable}});
  Problem problem;
  problem.answer = 5;
  Rollout cut;
  cut.finish = Finish::length;
  const Assessment a = make("word_problems", {})->assess(problem, cut, "2 + 3 = 5");
  EXPECT_EQ(name_of(a.verdict), name_of(none));
  EXPECT_EQ(a.extracted, "5");
}

TEST(Verifiers, PublishTheirGrammarAndListAllFaults) {
  EXPECT_EQ(verifiers().size(), 18U);
  for (const VerifierEntry& entry : verifiers()) EXPECT_GT(describe_verifier(entry.name).size(), 200U);
  EXPECT_THROW(describe_verifier("nothing"), Error);
  RewardTable table;
  table.part = {{"regx", 1, nlohmann::json::object()}, {"regex", 1, {{"pattern", "("}, {"patern", "a"}}}, {"random", 1, {{"probability", 2}}}};
  RewardContext context;
  context.locate = [](std::string_view key) { return "deck.toml:" + std::string(key); };
  try {
    make_reward_function(table, context);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::config);
    ASSERT_EQ(error.faults().size(), 4U);
    EXPECT_NE(error.faults()[0].found.find("did you mean 'regex'"), std::string::npos);
    EXPECT_EQ(error.faults()[1].where, "deck.toml:part.1.pattern");
  }
  EXPECT_THROW(make_reward_function(RewardTable(), RewardContext()), Error);
}

TEST(RewardFunction, AddsWeightedPartsAndTakesTheJudgesVerdict) {
  RewardTable table;
  table.part = {{"format", 0.25, {{"pattern", "a.*"}}}, {"exact", 2, nlohmann::json::object()}, {"length", -0.5, {{"target", 1}, {"maximum", 3}}}};
  RewardContext context;
  context.problem_verifiers = {"number", ""};
  const auto reward = make_reward_function(table, context);
  EXPECT_EQ(reward->judging_part(), 1U);
  const Assessment a = assess(*reward, "ab", "ab");
  EXPECT_EQ(a.verdict, yes);
  EXPECT_EQ(a.part, (std::vector<float>{1, 1, 0.5F}));
  EXPECT_EQ(a.reward, 0.25F + 2.0F - 0.25F);
  EXPECT_EQ(assess(*reward, "x", "ab").verdict, no);
  EXPECT_EQ(assess(*reward, nullptr, "ab").verdict, unusable);
  Problem own;
  own.answer = 4;
  own.verifier = "number";
  EXPECT_EQ(reward->assess(own, Rollout(), "about 4").verdict, yes);
  own.verifier = "unheard";
  EXPECT_EQ(reward->assess(own, Rollout(), "about 4").verdict, Verdict::crashed);
}

TEST(RewardFunction, CrashesAsAWholeWithOnePart) {
  class Broken final : public Verifier {
   public:
    Assessment assess(const Problem&, const Rollout&, std::string_view response) const override {
      if (response == "throw") throw std::runtime_error("broken");
      Assessment a;
      a.reward = std::numeric_limits<float>::quiet_NaN();
      return a;
    }
    bool judges() const override { return false; }
  };
  const RewardFunction reward({{"exact", 1, make("exact", {})}, {"broken", 1, std::make_shared<Broken>()}}, {});
  for (const char* response : {"throw", "nan"}) {
    const Assessment a = assess(reward, response, response);
    EXPECT_EQ(a.verdict, Verdict::crashed);
    EXPECT_EQ(a.reward, 0.0F);
  }
}

TEST(ResponseText, LeavesTheStopTokenOutOnlyIfTheRolloutStopped) {
  const auto tokenizer = make_word_tokenizer("a b");
  Rollout rollout;
  rollout.token = {0, 1, 2};
  EXPECT_EQ(response_text(*tokenizer, rollout), "a b");
  rollout.token = {0, 1};
  rollout.finish = Finish::length;
  EXPECT_EQ(response_text(*tokenizer, rollout), "a b");
  EXPECT_EQ(response_text(*tokenizer, Rollout()), "");
}

TEST(ScoreLine, AddsRewardVerdictAndExtracted) {
  const auto exact = make("exact", {});
  EXPECT_EQ(score_line(*exact, R"({"id": "q7", "response": " 5 ", "answer": "5", "reward": 9})", "f:1"),
            R"({"id":"q7","response":" 5 ","answer":"5","reward":1.0,"verdict":"correct","extracted":"5"})");
  EXPECT_EQ(Json::parse(score_line(*make("countdown", {}), R"({"id": 1, "response": "<answer>3*4</answer>", "answer": 12, "numbers": [3, 4]})", "f:1"))["verdict"], "correct");
  EXPECT_EQ(Json::parse(score_line(*make("operators", {}), R"({"prompt": "9 3 6 = 12 :", "response": "-> 9 - 3 + 6", "finish": "length"})", "f:1"))["verdict"], "no_answer");
  for (const char* line : {"[]", R"({"answer": "5"})", R"({"response": 5, "answer": "5"})", R"({"response": "5", "answer": "5", "finish": "maybe"})", R"({"response": "5", "finish": 1})"}) {
    try {
      score_line(*exact, line, "f.jsonl:4");
      ADD_FAILURE() << line;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::data);
      EXPECT_EQ(error.faults()[0].where, "f.jsonl:4");
    }
  }
}

}  // namespace
}  // namespace maxplus
