// The judges `choice` and `language`, and the counting of letters behind the second.
#include <chrono>

#include <gtest/gtest.h>

#include "verify/letters.hpp"
#include "verify/verifier.hpp"

namespace maxplus {
namespace {

struct ChoiceCase {
  const char *answer, *response, *verdict;
};

void check_choices(const nlohmann::json& keys, const char* extra, const std::vector<ChoiceCase>& cases) {
  const auto verifier = make_verifier("choice", keys, VerifierSettings(), "[reward]", Locate());
  for (const ChoiceCase& c : cases) {
    Problem problem;
    problem.answer = Json::parse(c.answer);
    problem.extra = Json::parse(extra);
    const Assessment a = verifier->assess(problem, Rollout(), c.response);
    EXPECT_EQ(name_of(a.verdict), c.verdict) << c.answer << " <- " << c.response << " took '" << a.extracted << "'";
    EXPECT_EQ(a.reward, a.verdict == Verdict::correct ? 1.0F : 0.0F);
  }
}

TEST(ChoiceVerifier, TakesOneLetterWhereTheGrammarSays) {
  const char *right = "correct", *wrong = "wrong", *none = "no_answer";
  check_choices({}, "{}", {{"\"C\"", "\\boxed{C}", right}, {"\"C\"", "\\boxed{\\text{C}}", right}, {"\"C\"", "\\boxed{(C)}", right}, {"\"C\"", "\\boxed{\\text{(C)}}", right}, {"\"C\"", "$\\boxed{\\mathrm{C}}$", right},
                   {"\"C\"", "\\boxed{c}", wrong}, {"\"C\"", "\\boxed{B}", wrong}, {"\"C\"", "\\boxed{B, C}", wrong}, {"\"C\"", "\\boxed{B or C}", wrong}, {"\"C\"", "\\boxed{C or B}", wrong}, {"\"C\"", "\\boxed{ABCD}", wrong},
                   {"\"C\"", "\\boxed{}", none}, {"\"C\"", "<answer>C</answer>", right}, {"\"C\"", "<answer>Option C</answer>", right}, {"\"C\"", "The answer is C.", right}, {"\"C\"", "the answer is **C**", right},
                   {"\"C\"", "The answer is (C).", right}, {"\"C\"", "Answer: C", right}, {"\"C\"", "The answer is B. Not C", wrong}, {"\"C\"", "The answer is not C.", wrong}, {"\"C\"", "not (A) but (C)", right},
                   {"\"C\"", "(C) but rather (A)", wrong}, {"\"C\"", "**C**", right}, {"\"C\"", "Think.\nC", right}, {"\"C\"", "Think.\nC.", right}, {"\"C\"", "C) red", right}, {"\"C\"", "A Cat", none}, {"\"C\"", "", none},
                   {"\"C\"", "\\boxed{A} so the answer is C", wrong}, {"\"(C)\"", "\\boxed{C}", right}, {"\"c\"", "\\boxed{C}", right}, {"2", "\\boxed{C}", right}, {"0", "\\boxed{A}", right}, {"26", "\\boxed{A}", "gold_unusable"},
                   {"-1", "\\boxed{A}", "gold_unusable"}, {"\"\"", "\\boxed{A}", "gold_unusable"}, {"null", "\\boxed{A}", "gold_unusable"}, {"\"CD\"", "\\boxed{C}", "gold_unusable"}, {"1.5", "\\boxed{B}", "gold_unusable"}});
  check_choices({{"first_index", 1}, {"letter_case", "ignore"}, {"count", 4}}, "{}", {{"3", "\\boxed{c}", right}, {"5", "\\boxed{C}", "gold_unusable"}, {"\"E\"", "E", "gold_unusable"}, {"\"A\"", "\\boxed{E}", wrong}});
  check_choices({{"require_box", "yes"}}, "{}", {{"\"C\"", "The answer is C.", none}, {"\"C\"", "\\boxed{C}", right}});
}

TEST(ChoiceVerifier, KnowsTheTextsOfTheOptions) {
  const char *right = "correct", *wrong = "wrong";
  const char* options = R"({"choices": ["Red", "Dark blue", "Green", "green"]})";
  check_choices({}, options, {{"\"B\"", "\\boxed{dark  Blue}", right}, {"\"B\"", "\\boxed{B. Dark blue}", right}, {"\"B\"", "\\boxed{(B) Dark blue}", right}, {"\"B\"", "\\boxed{B. Red}", wrong}, {"\"B\"", "\\boxed{Red}", wrong},
                      {"\"C\"", "\\boxed{green}", wrong}, {"\"Dark blue\"", "\\boxed{B}", right}, {"\"green\"", "\\boxed{C}", "gold_unusable"}, {"\"E\"", "\\boxed{E}", "gold_unusable"}, {"1", "\\boxed{B}", right}});
  check_choices({}, R"({"options": {"A": "1", "B": "2"}})", {{"\"B\"", "\\boxed{2}", right}, {"\"A\"", "\\boxed{2}", wrong}});
  check_choices({}, R"({"options": {"1": "1", "2": "2"}})", {{"\"B\"", "\\boxed{B}", "gold_unusable"}});
  check_choices({}, R"({"choices": "AB"})", {{"\"B\"", "\\boxed{B}", "gold_unusable"}});
}

double share(const char* language, std::string_view response) {
  const auto verifier = make_verifier("language", {{"language", language}}, VerifierSettings(), "[reward]", Locate());
  const Assessment a = verifier->assess(Problem(), Rollout(), response);
  EXPECT_EQ(a.verdict == Verdict::correct, a.reward == 1.0F);
  return a.verdict == Verdict::no_answer ? -1 : static_cast<double>(a.reward);
}

TEST(LanguageVerifier, GivesTheShareOfLettersOfTheScript) {
  EXPECT_EQ(share("en", "Hello world"), 1);
  EXPECT_EQ(share("fr", "Hello world"), 1);  // one script
  EXPECT_EQ(share("zh", "Hello"), 0);
  EXPECT_EQ(share("zh", "\u4f60\u597dab"), 0.5);
  EXPECT_EQ(share("zh", "\u3053\u4e00"), 0.5);
  EXPECT_EQ(share("ja", "\u3053\u4e00"), 1);
  EXPECT_EQ(share("ko", "\ud55c\uad6d a\u4e00"), 0.5);
  EXPECT_EQ(share("ru", "\u0414\u0430, yes!"), static_cast<double>(0.4F));
  EXPECT_EQ(share("ar", "\u0646\u0639\u0645"), 1);
  EXPECT_EQ(share("he", "\u05db\u05df"), 1);
  EXPECT_EQ(share("hi", "\u0939\u093e\u0901"), 1);
  EXPECT_EQ(share("th", "\u0e43\u0e0a\u0e48"), 1);
  EXPECT_EQ(share("el", "\u03bd\u03b1\u03b9"), 1);
  EXPECT_EQ(share("en", "\u1200b"), 0.5);  // Ethiopic has no name here
}

TEST(LanguageVerifier, LeavesOutWhatIsNoProse) {
  EXPECT_EQ(share("zh", "\u4f60 $x+y$ \\(ab\\) \\[cd\\] $$ef$$ `code` ```\nmore\n``` \\boxed{abc} <think> https://example.org/a 12 !"), 1);
  EXPECT_EQ(share("zh", "\u4f60 $ a"), 0.5);  // an open dollar is a price
  EXPECT_EQ(share("zh", "\u4f60 < a"), 0.5);
  EXPECT_EQ(share("en", "12 + 3 = 15, $x$ \U0001F600"), -1);
  EXPECT_EQ(share("en", ""), -1);
  EXPECT_EQ(share("en", "\xff\xfe" "a"), 1);
  EXPECT_EQ(prose_of("a`b`c"), "a c");
}

TEST(LanguageVerifier, TakesTimeInProportionToTheText) {
  const auto start = std::chrono::steady_clock::now();
  for (const char* part : {"\\(", "`", "$", "\\a{", "<", "a", "```", "https://"}) {
    std::string text;
    while (text.size() < 1'000'000) text += part;
    share("en", text);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(4));
}

TEST(LanguageVerifier, RefusesAnUnknownLanguage) {
  EXPECT_THROW(make_verifier("language", {{"language", "xx"}}, VerifierSettings(), "[reward]", Locate()), Error);
}

}  // namespace
}  // namespace maxplus
