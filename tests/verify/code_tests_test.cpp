// The parts of `code_tests` that start nothing: the program in a response, tests in the forms of data sets, comparison.
#include <gtest/gtest.h>

#include "verify/code/code_block.hpp"
#include "verify/code/comparison.hpp"
#include "verify/code/test_cases.hpp"
#include "verify/verifier.hpp"

namespace maxplus {
namespace {

const std::vector<std::string> kPython = {"python", "py"};

TEST(CodeBlock, TakesTheLastCompleteBlockOfTheLanguage) {
  EXPECT_EQ(last_code_block("```python\na\n```\ntext\n```py\nb\n```\n```cpp\nc\n```\n", kPython), "b\n");
  EXPECT_EQ(last_code_block("```python\na\n```\n```python\ncut off", kPython), "a\n");
  EXPECT_EQ(last_code_block("```\nplain\n```\n", kPython), "plain\n");
  EXPECT_EQ(last_code_block("```Python\na\n```\n```\noutput\n```", kPython), "a\n");
  EXPECT_EQ(last_code_block("````python\n```\na\n```\n````\n", kPython), "```\na\n```\n");
  EXPECT_EQ(last_code_block("~~~python\na\n~~~", kPython), "a\n");
  EXPECT_EQ(last_code_block("  ```python\r\na\r\n  ```\r\n", kPython), "a\r\n");
  EXPECT_EQ(last_code_block("```python\n```\n", kPython), "");
}

TEST(CodeBlock, FindsNoneInOtherText) {
  for (const char* text :
       {"", "print(1)", "```cpp\nint a;\n```", "```python\nprint(1)", "a ```python\nb\n```c", "```python print(1)```"})
    EXPECT_FALSE(last_code_block(text, kPython)) << text;
}

Problem problem_of(const char* answer, const char* extra) {
  Problem problem;
  problem.answer = Json::parse(answer);
  problem.extra = Json::parse(extra);
  return problem;
}

TEST(CodeTests, ReadsTheFormsOfDataSets) {
  const auto own = code_tests_of(
      problem_of("null", R"({"tests": [{"input": "1 2\n", "output": "3"}, {"input": ["4", "5"], "output": 9}]})"));
  ASSERT_TRUE(own);
  EXPECT_EQ(own->function, "");
  ASSERT_EQ(own->test.size(), 2U);
  EXPECT_EQ(own->test[1].input, "4\n5\n");
  EXPECT_EQ(own->test[1].output, "9");

  const auto calls =
      code_tests_of(problem_of("null", R"({"function": "f", "tests": [{"call": [1, [2]], "expect": null}]})"));
  ASSERT_TRUE(calls);
  EXPECT_EQ(calls->function, "f");
  EXPECT_EQ(calls->test[0].call, Json::parse("[1, [2]]"));
  EXPECT_TRUE(calls->test[0].expect.is_null());

  const auto apps =
      code_tests_of(problem_of(R"("{\"inputs\": [[1, 2]], \"outputs\": [[3]], \"fn_name\": \"add\"}")", "{}"));
  ASSERT_TRUE(apps);
  EXPECT_EQ(apps->function, "add");
  EXPECT_TRUE(apps->test[0].may_be_wrapped);

  const auto live = code_tests_of(problem_of(
      R"([{"input": "[1, 2]\n\"a\"", "output": "true", "testtype": "functional"}])", R"({"func_name": "g"})"));
  ASSERT_TRUE(live);
  EXPECT_EQ(live->test[0].call, Json::parse(R"([[1, 2], "a"])"));
  EXPECT_EQ(live->test[0].expect, Json(true));

  const auto mbpp = code_tests_of(problem_of(
      "null",
      R"j({"test_list": ["assert f((1, 2), 'a') == {1: [2.5, None]}", "assert f(-3)", "assert not f({1, 2}, key_like)"]})j"));
  EXPECT_FALSE(mbpp);  // the last is no literal
}

TEST(CodeTests, ReadsAssertionsOfLiterals) {
  CodeTests tests;
  EXPECT_TRUE(add_assertion("assert f((1, 2), 'a\\n', \"b\" 'c') == {1: [2.5, None], 'k': set()}", &tests));
  EXPECT_EQ(tests.function, "f");
  EXPECT_EQ(tests.test[0].call, Json::parse(R"([{"__tuple__": [1, 2]}, "a\n", "bc"])"));
  EXPECT_EQ(tests.test[0].expect, Json::parse(R"({"__dict__": [[1, [2.5, null]], ["k", {"__set__": []}]]})"));
  EXPECT_TRUE(
      add_assertion("assert f(-1_000, 1e3, (5), (5,), [], {}) == 123456789012345678901234567890, 'message'", &tests));
  EXPECT_EQ(tests.test[1].call, Json::parse(R"([-1000, 1000.0, 5, {"__tuple__": [5]}, [], {}])"));
  EXPECT_EQ(tests.test[1].expect, Json::parse(R"({"__int__": "123456789012345678901234567890"})"));
  EXPECT_TRUE(add_assertion("assert not f({1, 2})", &tests));
  EXPECT_EQ(tests.test[2].expect, Json(false));
  EXPECT_TRUE(add_assertion("assert f(1)", &tests));
  EXPECT_EQ(tests.test[3].expect, Json(true));
  for (const char* bad : {"", "f(1) == 2", "assert g(1) == 2", "assert f(x) == 2", "assert f(1) == 2 or True",
                          "assert f(1) != 2", "assert f(1) == g(2)", "assert f(1 == 2", "assert f('a) == 2",
                          "assert f([1 2]) == 2", "assert f(0x10) == 2", "assert 2 == f(1)", "assert f(1).x == 2"})
    EXPECT_FALSE(add_assertion(bad, &tests)) << bad;
  EXPECT_EQ(tests.test.size(), 4U);
}

TEST(CodeTests, RefusesTestsThatCannotBeRead) {
  for (const char* extra :
       {"{}", R"({"tests": []})", R"({"tests": 5})", R"({"tests": [{}]})", R"({"tests": [{"input": "1"}]})",
        R"({"tests": [{"call": [1], "expect": 2}]})", R"({"function": "f", "tests": [{"call": 1, "expect": 2}]})",
        R"({"inputs": ["1"], "outputs": []})", R"({"tests": "no json"})",
        R"({"function": "f", "tests": [{"input": "1", "output": "2"}]})",
        R"({"tests": [{"input": {}, "output": "2"}]})"})
    EXPECT_FALSE(code_tests_of(problem_of("null", extra))) << extra;
}

constexpr double kTolerance = 1e-6;

TEST(CodeComparison, ComparesOutputWordByWord) {
  EXPECT_TRUE(same_output("1 2\n3\n", "1 2 3", kTolerance));
  EXPECT_TRUE(same_output("", " \n", kTolerance));
  EXPECT_TRUE(same_output("0.5", "0.5000001", kTolerance));
  EXPECT_TRUE(same_output("1e3", "1000", kTolerance));
  EXPECT_FALSE(same_output("1000", "1e3", kTolerance));
  EXPECT_FALSE(same_output("0.5", "0.6", kTolerance));
  EXPECT_FALSE(same_output("0.5", "nan", kTolerance));
  EXPECT_FALSE(same_output("3", "3 3", kTolerance));
  EXPECT_FALSE(same_output("3 3", "3", kTolerance));
  EXPECT_FALSE(same_output("Yes", "yes", kTolerance));
  EXPECT_FALSE(same_output("3", "", kTolerance));
  EXPECT_FALSE(same_output("12345678901234567890", "12345678901234567891", kTolerance));
}

TEST(CodeComparison, ComparesValuesAsData) {
  const auto same = [](const char* expected, const char* value) {
    return same_value(Json::parse(expected), Json::parse(value), kTolerance);
  };
  EXPECT_TRUE(same("[1, [2, null]]", "[1, [2, null]]"));
  EXPECT_TRUE(same(R"({"__tuple__": [1, 2]})", "[1, 2]"));
  EXPECT_TRUE(same(R"({"__set__": [1, 2]})", R"({"__set__": [2, 1]})"));
  EXPECT_TRUE(same(R"({"__dict__": [["a", 1], ["b", 2]]})", R"({"b": 2, "a": 1})"));
  EXPECT_TRUE(same("1", "1.0"));
  EXPECT_TRUE(same("0.1", "0.10000001"));
  EXPECT_TRUE(same("18446744073709551615", R"(18446744073709551615)"));
  Json values = Json::array(), backwards = Json::array();
  for (int i = 0; i < 50000; ++i) {
    values.push_back(i);
    backwards.push_back(49999 - i);
  }
  EXPECT_TRUE(same_value({{"__set__", values}}, {{"__set__", backwards}}, kTolerance));
  EXPECT_FALSE(same_value({{"__set__", values}}, {{"__set__", std::vector<double>(50000, 0.5)}}, kTolerance));
  EXPECT_TRUE(same(R"({"__set__": [0.1, 0.2]})", R"({"__set__": [0.2, 0.1000000001]})"));
  EXPECT_FALSE(same("1", "true"));
  EXPECT_FALSE(same("true", "1"));
  EXPECT_FALSE(same("1", "\"1\""));
  EXPECT_FALSE(same("1", "1.0000001"));
  EXPECT_FALSE(same("[1, 2]", "[2, 1]"));
  EXPECT_FALSE(same("[1, 2]", R"({"__set__": [1, 2]})"));
  EXPECT_FALSE(same(R"({"__set__": [1, 1]})", R"({"__set__": [1, 2]})"));
  EXPECT_FALSE(same(R"({"a": 1})", R"({"a": 1, "b": 2})"));
  EXPECT_FALSE(same("0.5", R"({"__float__": "nan"})"));
  EXPECT_FALSE(same("null", "false"));
}

TEST(CodeTests, SaysWhyWithoutStartingAnything) {
  const auto verifier = make_verifier("code_tests", nlohmann::json::object(), VerifierSettings(), "[reward]", Locate());
  const Problem good = problem_of("null", R"({"tests": [{"input": "1", "output": "2"}]})");
  const auto verdict = [&](const Problem& problem, const char* response) {
    return name_of(verifier->assess(problem, Rollout(), response).verdict);
  };
  EXPECT_EQ(verdict(problem_of("null", "{}"), "```python\nprint(2)\n```"), "gold_unusable");
  EXPECT_EQ(verdict(good, "print(2)"), "no_answer");
  EXPECT_EQ(verdict(good, "```python\n \n```"), "no_answer");
  EXPECT_EQ(verdict(good, "```python\nprint(2)\n```"), "crashed");  // no broker: nothing is run in this process
}

TEST(CodeTests, RefusesKeysThatDoNotDo) {
  const auto make = [](const char* keys) {
    return make_verifier("code_tests", nlohmann::json::parse(keys), VerifierSettings(), "[reward]", Locate());
  };
  for (const char* keys :
       {R"({"sandbox": "chroot"})", R"({"memory_mb": 1})", R"({"read_only": ["a"]})", R"({"read_only": ["/a/../etc"]})",
        R"({"python": "no-such-python"})", R"({"fractional": "half"})", R"({"memory": 5})"})
    EXPECT_THROW(make(keys), Error) << keys;
}

}  // namespace
}  // namespace maxplus
