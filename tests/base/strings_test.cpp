// Trimming, joining, quoting, and the nearest of several names.
#include "base/strings.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace maxplus {
namespace {

TEST(Strings, CountTheEditsBetweenTwoWords) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("abc", ""), 3u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("seed", "sede"), 1u) << "neighbours exchanged";
  EXPECT_EQ(edit_distance("abcd", "badc"), 2u);
}

TEST(Strings, FindTheNameThatWasMeant) {
  const std::vector<std::string> names = {"learning_rate", "warmup_steps", "schedule", "epsilon", "epochs"};
  EXPECT_EQ(nearest_known("lerning_rate", names), "learning_rate");
  EXPECT_EQ(nearest_known("LEARNING_RATE", names), "learning_rate");
  EXPECT_EQ(nearest_known("epoch", names), "epochs");
  EXPECT_EQ(nearest_known("warmup", names), "warmup_steps") << "the only one that begins so";
  EXPECT_EQ(nearest_known("steps", names), "warmup_steps") << "the only one that ends so";
  EXPECT_EQ(nearest_known("ep", names), std::nullopt);
  EXPECT_EQ(nearest_known("", names), std::nullopt);
  EXPECT_EQ(nearest_known("zebra_crossing", names), std::nullopt);
  EXPECT_EQ(nearest_known(std::string(100000, 'e'), names), std::nullopt);
  EXPECT_EQ(nearest_known("x", {}), std::nullopt);
  EXPECT_EQ(did_you_mean("shedule", names), "; did you mean 'schedule'?");
  EXPECT_EQ(did_you_mean("zebra_crossing", names), "");
}

TEST(Strings, AreTrimmedSplitAndJoined) {
  EXPECT_EQ(trim(" \t a b\r\n"), "a b");
  EXPECT_EQ(trim(" \n"), "");
  EXPECT_EQ(split("a..b", '.'), (std::vector<std::string>{"a", "", "b"}));
  EXPECT_EQ(split("", '.'), (std::vector<std::string>{""}));
  EXPECT_EQ(join({"a", "b", "c"}, ", "), "a, b, c");
  EXPECT_EQ(join({}, ", "), "");
  EXPECT_EQ(join_choices({"a"}, "or"), "\"a\"");
  EXPECT_EQ(join_choices({"a", "b", "c"}, "or"), "\"a\", \"b\" or \"c\"");
}

TEST(Strings, AreQuotedAndCutForOneLine) {
  EXPECT_EQ(quote("a\"b\\c\n\t\x01\x7f"), "\"a\\\"b\\\\c\\n\\t\\u0001\\u007F\"");
  EXPECT_EQ(shorten("abcdef", 6), "abcdef");
  EXPECT_EQ(shorten("abcdefg", 6), "abc...");
  EXPECT_EQ(shorten("a\u00fc\u00fc\u00fc", 6), "a\u00fc...") << "never inside a code point";
  EXPECT_EQ(one_line("a\nb\x01"), "a b?");
}

}  // namespace
}  // namespace maxplus
