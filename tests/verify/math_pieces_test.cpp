// The parts of the judge `math` below its grammar: tokens, trees, sums, fractions, bounds, spellings.
#include <gtest/gtest.h>

#include "verify/math/approximation.hpp"
#include "verify/math/spelling.hpp"
#include "verify/math/tree.hpp"

namespace maxplus::math {
namespace {

std::string spelled_tokens(std::string_view text) {
  std::string all;
  for (const Token& token : tokens_of(text)) {
    if (token.kind == TokenKind::end) break;
    if (!all.empty()) all += ' ';
    all += token.text;
    if (token.kind == TokenKind::words) all += '"';
  }
  return all;
}

TEST(MathTokens, AreTheSameForLatexAndPlainText) {
  EXPECT_EQ(spelled_tokens(R"(\left( \dfrac{1}{2} \right))"), "( frac { 1 } { 2 } )");
  EXPECT_EQ(spelled_tokens(R"(2\cdot x \leq 3)"), "2 * x <= 3");
  EXPECT_EQ(spelled_tokens(R"(\{1,234\})"), "\\{ 1 , 234 \\}");
  EXPECT_EQ(spelled_tokens("1,234"), "1234");
  EXPECT_EQ(spelled_tokens("1,2345"), "1 , 2345");
  EXPECT_EQ(spelled_tokens("0,123"), "0 , 123");
  EXPECT_EQ(spelled_tokens("12 cm"), "12 cm\"");
  EXPECT_EQ(spelled_tokens("cm"), "c m");
  EXPECT_EQ(spelled_tokens(R"(5\text{ or }6)"), "5 or 6");
  EXPECT_EQ(spelled_tokens(R"(\text{red or blue})"), "red or blue\"");
  EXPECT_EQ(spelled_tokens("2e3x"), "2e3 x");
  EXPECT_EQ(spelled_tokens("2ex"), "2 e x");
  for (const char* bad : {"\\nothing", "\\text{", "#", "\\mathbb{RR}", "0.\\overline{x}", "\x01"}) EXPECT_THROW(tokens_of(bad), Unreadable) << bad;
}

TEST(MathTrees, KeepPrecedence) {
  const Node sum = tree_of(tokens_of("1+2x^3"));
  ASSERT_EQ(sum.kind, NodeKind::sum);
  ASSERT_EQ(sum.child.size(), 2U);
  EXPECT_EQ(sum.child[1].kind, NodeKind::product);
  EXPECT_EQ(sum.child[1].child[1].kind, NodeKind::power);
  const Node list = tree_of(tokens_of("x=1, x=2"));
  ASSERT_EQ(list.kind, NodeKind::list);
  EXPECT_EQ(list.child[0].kind, NodeKind::relation);
  for (const char* bad : {"", "+", "1+", "(1", "1)", "1 2", "a/bc", "\\frac{1}", "x^", "\\{1", "|x", "1,,2", "\\sqrt12", "\\begin{pmatrix}1&2\\\\3\\end{pmatrix}"})
    EXPECT_THROW(tree_of(tokens_of(bad)), Unreadable) << bad;
}

TEST(MathSums, TakeNumbersApart) {
  Work work(kMaxSteps);
  using Factors = std::vector<std::pair<mpz_class, unsigned long>>;
  EXPECT_EQ(factors(360, work), (Factors{{2, 3}, {3, 2}, {5, 1}}));
  EXPECT_EQ(factors(1, work), Factors());
  EXPECT_EQ(factors(mpz_class("998244353"), work), (Factors{{mpz_class("998244353"), 1}}));
  EXPECT_EQ(factors(mpz_class("1000000007") * mpz_class("1000000007") * 1024, work), (Factors{{2, 10}, {mpz_class("1000000007"), 2}}));
  EXPECT_EQ(whole_power(mpq_class(-2, 3), -3), mpq_class(-27, 8));
  EXPECT_EQ(whole_power(-1, 1'000'001), -1);
  EXPECT_THROW(whole_power(10, 100'000), Unreadable);
  EXPECT_THROW(whole_power(0, -1), Unreadable);
  Work little(10);
  EXPECT_THROW(little.spend(11), Unreadable);
}

TEST(MathFractions, AreEqualByCrossMultiplication) {
  Work work(kMaxSteps);
  ScalarField field(work);
  const Scalar x = field.atom("sx"), one = field.number(1);
  const Scalar above = field.add(field.multiply(x, x), one, -1), below = field.add(x, one, -1);
  EXPECT_TRUE(field.equal(field.divide(above, below), field.add(x, one, 1)));
  EXPECT_EQ(field.ratio(field.multiply(x, field.number(-6)), field.multiply(x, field.number(4))), mpq_class(-3, 2));
  EXPECT_EQ(field.ratio(x, one), std::nullopt);
  EXPECT_THROW(field.divide(one, field.add(x, x, -1)), Unreadable);
  EXPECT_NE(field.text(x), field.text(field.atom("sy")));
  EXPECT_EQ(field.text(field.divide(one, below)), field.text(field.divide(field.number(2), field.multiply(below, field.number(2)))));
}

TEST(MathBounds, HoldTheNumberBetweenThem) {
  Work work(kMaxSteps);
  ScalarField field(work);
  // The first 50 digits of pi (Abramowitz and Stegun, 1964, table 1.1).
  const mpq_class low(mpz_class("314159265358979323846264338327950288419716939937510"), mpz_class("100000000000000000000000000000000000000000000000000"));
  const mpq_class high = low + mpq_class(1, mpz_class("100000000000000000000000000000000000000000000000000"));
  const auto pi = bounds_of(field.atom("sπ"), work);
  ASSERT_TRUE(pi);
  EXPECT_LT(low, pi->high);
  EXPECT_GT(high, pi->low);
  EXPECT_LT(pi->high - pi->low, mpq_class(1, mpz_class("100000000000000000000000000000000000000000000000000")));
  const Scalar root = field.root(field.number(2), field.number(2));
  const auto two = bounds_of(root, work);
  ASSERT_TRUE(two);
  EXPECT_LE(two->low * two->low, 2);
  EXPECT_GE(two->high * two->high, 2);
  EXPECT_EQ(sign_of(field.add(root, field.number(mpq_class(3, 2)), -1), work), -1);
  EXPECT_EQ(sign_of(field.number(0), work), 0);
  EXPECT_EQ(sign_of(field.atom("sx"), work), std::nullopt);
}

TEST(MathSpellings, HaveOneNameForAUnit) {
  EXPECT_EQ(unit_name("square centimeters"), "cm^2");
  EXPECT_EQ(unit_name("kilometers per hour"), "km/h");
  EXPECT_EQ(unit_name("km/h"), "km/h");
  EXPECT_EQ(unit_name("Apples"), "apple");
  EXPECT_FALSE(may_be_unit("or more"));
  EXPECT_FALSE(may_be_unit("million"));
  EXPECT_TRUE(may_be_unit("red apples"));
  EXPECT_FALSE(is_bare_unit("m"));
  EXPECT_TRUE(is_bare_unit("hours"));
  EXPECT_EQ(normal_words(" (The  Answer.) "), "the answer");
  EXPECT_EQ(normal_words("(C)"), "C");
}

}  // namespace
}  // namespace maxplus::math
