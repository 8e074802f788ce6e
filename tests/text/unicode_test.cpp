// Unicode tables, normal form C, and the splitting expressions that stand on them.
#include "text/unicode.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "text/bpe_description.hpp"
#include "text/nfc.hpp"
#include "text/split_pattern.hpp"
#include "text/utf8.hpp"

namespace maxplus {
namespace {

std::vector<std::string> words_of(const char* expression, const std::string& text, SplitGaps gaps) {
  std::vector<std::pair<std::size_t, std::size_t>> places;
  split_words_by(SplitPattern(expression, "test"), gaps, text, 0, text.size(), places);
  std::vector<std::string> words;
  for (const auto& [begin, end] : places) words.push_back(text.substr(begin, end - begin));
  return words;
}
using Words = std::vector<std::string>;

TEST(Unicode, KnowsCategoriesAndWhiteSpace) {
  EXPECT_EQ(class_of(U'A').category(), Category::lu);
  EXPECT_EQ(class_of(U'ß').category(), Category::ll);
  EXPECT_EQ(class_of(U'٣').category(), Category::nd);
  EXPECT_EQ(class_of(U'½').category(), Category::no);
  EXPECT_EQ(class_of(U'語').category(), Category::lo);
  EXPECT_EQ(class_of(0x301).category(), Category::mn);
  EXPECT_EQ(class_of(0x1C89).category(), Category::lu) << "new in Unicode 16";
  EXPECT_EQ(class_of(0x10FFFF).category(), Category::cn);
  int spaces = 0;
  for (char32_t code = 0; code < 0x110000; ++code) spaces += class_of(code).is_space();
  EXPECT_EQ(spaces, 25);
  EXPECT_FALSE(class_of(0x200B).is_space());
  EXPECT_EQ(category_mask("X"), 0u);
}

TEST(Nfc, ComposesOrdersAndLeavesAlone) {
  EXPECT_EQ(nfc("plain é"), "plain é");
  EXPECT_EQ(nfc("e\u0301"), "é");
  EXPECT_EQ(nfc("\u212B"), "Å") << "a singleton";
  EXPECT_EQ(nfc("q\u0307\u0323"), "q\u0323\u0307") << "order by combining class";
  EXPECT_EQ(nfc("a\u0323\u0302"), "\u1EAD") << "two steps";
  EXPECT_EQ(nfc("\u1112\u1161\u11AB"), "\uD55C") << "Hangul";
  EXPECT_EQ(nfc("\u0958"), "\u0915\u093C") << "excluded from composition";
  EXPECT_EQ(nfc("a\u0315\u0300\u05AE\u0062"), "\u00E0\u05AE\u0315\u0062");
  EXPECT_EQ(nfc("x\u0300 e\u0301\u0301"), "x\u0300 é\u0301") << "blocked";
  EXPECT_EQ(nfc(""), "");
}

TEST(Nfc, IsIdempotentOverAllCodePoints) {
  for (char32_t code = 0; code < 0x110000; ++code) {
    if (code >= 0xD800 && code < 0xE000) continue;
    std::string text = "a";
    append_utf8(code, text);
    append_utf8(0x301, text);
    const std::string once = nfc(text);
    ASSERT_EQ(nfc(once), once) << std::hex << static_cast<unsigned>(code);
  }
}

TEST(SplitPattern, SplitsAsThePublishedExpressionsDo) {
  EXPECT_EQ(words_of(kGpt2Expression, "I'll  go 12345 'S!\n\n x", SplitGaps::keep),
            (Words{"I", "'ll", " ", " go", " 12345", " '", "S", "!", "\n\n", " x"}));
  EXPECT_EQ(words_of(kLlama3Expression, "I'LL  go 12345\r\n\n x", SplitGaps::keep),
            (Words{"I", "'LL", " ", " go", " ", "123", "45", "\r\n\n", " x"}));
  EXPECT_EQ(words_of(kQwen2Expression, "a'\u017F 12...\n", SplitGaps::keep),
            (Words{"a", "'\u017F", " ", "1", "2", "...\n"}));
  EXPECT_EQ(words_of(kGpt4oExpression, "HelloWorld's CAMELCase/\n", SplitGaps::keep),
            (Words{"Hello", "World's", " CAMELCase", "/\n"}));
  EXPECT_EQ(words_of(kDigitsExpression, "a12b", SplitGaps::keep), (Words{"a", "1", "2", "b"}));
  EXPECT_EQ(words_of(R"([a-z]+)", "1ab2c", SplitGaps::drop), (Words{"ab", "c"}));
}

TEST(SplitPattern, MatchesLikeABacktrackingEngine) {
  EXPECT_EQ(words_of(R"(a+ab)", "xaaab", SplitGaps::keep), (Words{"x", "aaab"}));
  EXPECT_EQ(words_of(R"(a++ab|a)", "aab", SplitGaps::keep), (Words{"a", "a", "b"})) << "possessive";
  EXPECT_EQ(words_of(R"((?:ab)?c|a)", "abcab", SplitGaps::keep), (Words{"abc", "a", "b"}));
  EXPECT_EQ(words_of(R"([^\sa]{2,3}(?=!))", "xyzw!", SplitGaps::keep), (Words{"x", "yzw", "!"}));
  EXPECT_EQ(words_of(R"([\u4e00-\u9fa5]+|\x{1F642}|\P{L})", "中文🙂b1", SplitGaps::keep),
            (Words{"中文", "🙂", "b", "1"}));
}

TEST(SplitPattern, RefusesWhatItDoesNotUnderstand) {
  for (const char* expression : {"(a", "a)", "[a", "(a)+", "a*?", "\\b", "\\w", "\\p{Han}", "\\p{L", "[[a]]", "a{2",
                                 "^a", "(?<=a)b", "(?i:\\p{L})", "\\xZZ", "[b-a]"}) {
    EXPECT_THROW(SplitPattern(expression, "test"), Error) << expression;
  }
}

TEST(LossyUtf8, ReplacesEachMaximalPart) {
  EXPECT_EQ(lossy_utf8("a\xE2\x82z"), "a\uFFFDz");
  EXPECT_EQ(lossy_utf8("\xF0\x9F\x99"), "\uFFFD");
  EXPECT_EQ(lossy_utf8("\xC0\x80"), "\uFFFD\uFFFD");
  EXPECT_EQ(lossy_utf8("\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(lossy_utf8("ok é"), "ok é");
}

}  // namespace
}  // namespace maxplus
