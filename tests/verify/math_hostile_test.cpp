// Answers that want to hang, crash or fool the judge `math`: each must end within half a second and a bounded memory,
// with the right verdict. The gold answers are ordinary.
#include <ctime>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "verify/verifier.hpp"

namespace maxplus {
namespace {

constexpr double kLimitS = 0.5;               // an item, of processor time: the machine may be busy
constexpr std::int64_t kMemoryKib = 262'144;  // growth of the whole process over all of them

struct Item {
  std::string name, gold, response;
  Verdict wanted;  // wrong also allows no_answer, for a response that holds none
};

double seconds_since(std::clock_t start) { return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC; }

std::string repeated(std::string_view text, std::size_t times) {
  std::string result;
  result.reserve(text.size() * times);
  for (std::size_t i = 0; i < times; ++i) result += text;
  return result;
}

std::string box(std::string_view inside) { return "So \\boxed{" + std::string(inside) + "}."; }
std::string nested(std::string_view open, std::string_view middle, std::string_view close, std::size_t times) {
  return repeated(open, times) + std::string(middle) + repeated(close, times);
}

constexpr std::size_t kMillion = 1'000'000;

std::vector<Item> hostile_items() {
  constexpr Verdict right = Verdict::correct, wrong = Verdict::wrong;
  std::string nul = "4";
  nul += '\0';
  nul += '2';
  std::string sum, roots, symbols, list;
  for (int i = 0; i < 300; ++i) {
    sum += "+\\frac{1}{" + std::to_string(10'007 + 2 * i) + "}";
    roots += "+\\sqrt{" + std::to_string(10'007 + 2 * i) + "}";
    symbols += "+x_{" + std::to_string(i) + "}";
    list += std::to_string(i) + ",";
  }
  return {
      // Towers and powers.
      {"tower of sevens", "6", box("7^{7^{7^{7}}}"), wrong},
      {"tower of fives", "6", box("5^{5^{5^{5^5}}}"), wrong},
      {"ten to ten to ten", "6", box("10^{10^{10}}"), wrong},
      {"tower without braces", "6", box("9^9^9^9^9^9^9"), wrong},
      {"tower of a thousand", "6", box(nested("2^{", "2", "}", 1'000)), wrong},
      {"negative tower", "0", box("2^{-2^{2^{2^{2^2}}}}"), wrong},
      {"tower of a half", "0", box("0.5^{9^{9^9}}"), wrong},
      {"one to a tower", "2", box("1^{9^{9^{9^9}}}"), wrong},
      {"power of a sum", "6", box("(x+y+z+w)^{64}"), wrong},
      {"power of a power of a sum", "6", box("((((x+1)^{60})^{60})^{60})^{60}"), wrong},
      {"power of a large sum", "6", box("(a+b+c+d+u+v+w+x+y+z)^{40}"), wrong},
      {"large power of a sum", "6", box("(x+1)^{99999999}"), wrong},
      {"thousandth root", "6", box("\\sqrt[1000000007]{12345678901234567890}"), wrong},
      {"root of a large number", "6", box("\\sqrt{" + repeated("7", 4'900) + "}"), wrong},
      {"root of a product of primes", "6", box("\\sqrt{1000000007000000063\\cdot 998244353}"), wrong},
      {"large fractional power", "6", box("123456789^{987654321/123456787}"), wrong},
      {"scientific beyond all", "6", box("1e999999999"), wrong},
      {"exponent too long", "6", box("1e" + repeated("9", 4'000)), wrong},
      {"tiny", "0", box("1e-99999"), wrong},
      {"tiny differs from tiny", "3^{-60}", box("3^{-61}"), wrong},
      {"huge differs from huge", "10^{10^{10}}", box("10^{10^{10}}+1"), wrong},
      {"huge equals huge", "10^{10^{10}}", box("(10^{10^9})^{10}"), right},
      // Factorials and friends.
      {"factorial tower", "6", box("9!!!!!!!!"), wrong},
      {"endless factorials", "6", box("9" + repeated("!", 5'000)), wrong},
      {"million factorial", "6", box("1000000!"), wrong},
      {"factorial of a power", "6", box("(10^{100})!"), wrong},
      {"large binomial", "6", box("\\binom{1000000}{500000}"), wrong},
      {"binomial of binomials", "6", box(nested("\\binom{1000}{", "500", "}", 30)), wrong},
      {"percent chain", "6", box("6" + repeated("\\%", 3'000)), wrong},
      {"primes", "6", box("x" + repeated("'", 5'000)), wrong},
      // Nesting.
      {"deep parentheses", "6", box(nested("(", "6", ")", 100'000)), wrong},
      {"deep braces", "6", box(nested("{", "6", "}", 100'000)), wrong},
      {"deep fractions", "6", box(nested("\\frac{1}{1+", "6", "}", 3'000)), wrong},
      {"fraction of fifty floors", "6", box(nested("\\frac{1}{1+", "6", "}", 50)), wrong},
      {"deep roots", "6", box(nested("\\sqrt{1+", "6", "}", 3'000)), wrong},
      {"forty roots", "6", box(nested("\\sqrt{2+", "6", "}", 40)), wrong},
      {"deep sines", "6", box(nested("\\sin(", "x", ")", 60)), wrong},
      {"deep sets", "6", box(nested("\\{", "6", "\\}", 2'000)), wrong},
      {"deep text", "6", box(nested("\\text{", "6", "}", 1'000)), wrong},
      {"deep fonts", "6", box(nested("\\mathbf{", "6", "}", 1'000)), wrong},
      {"bars", "6", box(repeated("|", 9'000)), wrong},
      {"minus signs", "6", box(repeated("-", 9'001) + "6"), wrong},
      {"boxes in boxes", "6", nested("\\boxed{", "6", "}", 100'000), right},
      // Length.
      {"a megabyte of sixes", "6", box(repeated("6", kMillion)), wrong},
      {"a megabyte of blanks", "6", box(repeated(" ", kMillion)), wrong},
      {"a megabyte of letters", "6", box(repeated("x", kMillion)), wrong},
      {"a megabyte of zeros before", "6", box(repeated("0", kMillion) + "6"), wrong},
      {"a megabyte of sums", "6", box(repeated("1+", kMillion / 2) + "1"), wrong},
      {"a megabyte of commas", "6", box(repeated("6,", kMillion / 2)), wrong},
      {"a megabyte without a box", "6", repeated("x ", kMillion / 2), wrong},
      {"numbers without a box", "6", repeated("6 5 ", kMillion / 4), wrong},
      {"a number of a megabyte without a box", "6", repeated("6", kMillion), wrong},
      {"a million open boxes", "6", repeated("\\boxed{", kMillion), wrong},
      {"a million empty boxes", "6", repeated("\\boxed{}", kMillion), wrong},
      {"a million boxes, the last is right", "6", repeated("\\boxed{5}", kMillion) + "\\boxed{6}", right},
      {"a million boxes, the last is wrong", "6", repeated("\\boxed{6}", kMillion) + "\\boxed{5}", wrong},
      {"a million open braces", "6", repeated("{", kMillion), wrong},
      {"a million closing braces", "6", repeated("}", kMillion) + "\\boxed{6}", right},
      {"a million backslashes", "6", repeated("\\", kMillion) + "boxed{6}", right},
      {"a million tags", "6", repeated("<answer>", kMillion / 8), wrong},
      {"a million dollars", "6", repeated("$", kMillion) + "5", wrong},
      {"a million phrases", "6", repeated("the answer is ", kMillion / 14), wrong},
      {"nine thousand digits", "6", box(repeated("9", 9'000)), wrong},
      {"long decimals", "\\frac{1}{3}", box("0." + repeated("3", 4'990) + "4"), wrong},
      {"long decimal, cut", "\\frac{1}{3}", box("0." + repeated("3", 500)), right},
      {"long period", "6", box("0.\\overline{" + repeated("12345", 900) + "}"), wrong},
      // Work.
      {"three hundred fractions", "6", box("0" + sum), wrong},
      {"three hundred roots", "6", box("0" + roots), wrong},
      {"square of three hundred roots", "6", box("(0" + roots + ")^2"), wrong},
      {"square of three hundred symbols", "6", box("(0" + symbols + ")^2"), wrong},
      {"product of large fractions", "6", box(repeated("\\frac{" + repeated("7", 200) + "}{" + repeated("3", 199) + "1}\\cdot ", 20) + "1"), wrong},
      {"long list", "\\{1,2\\}", box("\\{" + repeated("1,", 199) + "2\\}"), right},
      {"list too long", "\\{1,2\\}", box("\\{" + repeated("1,", 3'000) + "2\\}"), wrong},
      {"long tuple", "6", box("(" + list + "6)"), wrong},
      {"plus-minus everywhere", "6", box(repeated("\\pm 1", 500)), wrong},
      {"large matrix", "6", box("\\begin{pmatrix}" + repeated("1&", 1'000) + "1\\end{pmatrix}"), wrong},
      {"long chain", "6", box(repeated("1<", 2'000) + "6"), wrong},
      {"long chain of equals", "6", box(repeated("6=", 150) + "5"), wrong},
      // Broken text.
      {"unbalanced", "6", box("\\frac{6}{1"), wrong},
      {"closing first", "6", box(")6("), wrong},
      {"unclosed environment", "6", box("\\begin{pmatrix} 6"), wrong},
      {"NUL byte", "42", box(nul), wrong},
      {"NUL bytes", "42", box(std::string(1'000, '\0')), wrong},
      {"NUL behind", "42", box("42" + std::string(1, '\0')), wrong},
      {"bad UTF-8", "42", box("42\xff"), wrong},
      {"cut UTF-8", "42", box("42\xe2\x88"), wrong},
      {"surrogate", "42", box("\xed\xa0\x80" "42"), wrong},
      {"overlong", "42", box("\xc0\xb4\xc0\xb2"), wrong},
      {"digits of another script", "42", box("\xd9\xa4\xd9\xa2"), wrong},
      {"right-to-left mark", "42", box("24\xe2\x80\xae"), wrong},
      {"escape at the end", "6", "\\boxed{6\\", wrong},
      {"unknown command", "6", box("\\input{/etc/passwd}"), wrong},
      {"definition", "6", box("\\def\\x{6}\\x"), wrong},
      // Cheating.
      {"all answers", "6", box("1,2,3,4,5,6"), wrong},
      {"or", "6", box("5 or 6"), wrong},
      {"interval", "6", box("[0,10]"), wrong},
      {"any number", "6", box("\\mathbb{R}"), wrong},
      {"the gold answer", "6", box("\\text{the gold answer}"), wrong},
      {"a variable", "6", box("x"), wrong},
      {"not a number", "6", box("NaN"), wrong},
      {"infinity", "6", box("\\infty"), wrong},
      {"infinity minus infinity", "0", box("\\infty-\\infty"), wrong},
      {"one over zero", "6", box("\\frac{1}{0}"), wrong},
      {"zero over zero", "0", box("\\frac{0}{0}"), wrong},
      {"hidden zero below", "0", box("\\frac{0}{\\sqrt2\\sqrt3-\\sqrt6}"), wrong},
      {"zero to the zero", "1", box("0^0"), wrong},
      {"a false equation", "6", box("5=6"), wrong},
      {"an identity", "x=5", box("0=0"), wrong},
      {"words around the number", "6", box("\\text{either 5 or }6"), wrong},
      {"a unit that lies", "6", box("6\\text{ or }7"), wrong},
      {"a unit that multiplies", "6", box("6\\text{ million}"), wrong},
      {"the box is in the words", "6", "I will not write \\boxed{6} but \\boxed{7}", wrong},
  };
}

std::int64_t peak_kib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

TEST(MathHostile, EndsEveryAnswerInTimeWithTheRightVerdict) {
  const auto verifier = make_verifier("math", nlohmann::json::object(), VerifierSettings(), "[reward]", Locate());
  const std::vector<Item> items = hostile_items();
  EXPECT_GE(items.size(), 60U);
  const std::int64_t before = peak_kib();
  double slowest = 0;
  std::string slowest_name;
  for (const Item& item : items) {
    Problem problem;
    problem.answer = item.gold;
    const std::clock_t start = std::clock();
    const Assessment a = verifier->assess(problem, Rollout(), item.response);
    const double seconds = seconds_since(start);
    if (item.wanted == Verdict::correct)
      EXPECT_EQ(name_of(a.verdict), "correct") << item.name;
    else
      EXPECT_TRUE(a.verdict == Verdict::wrong || a.verdict == Verdict::no_answer) << item.name << ": " << name_of(a.verdict);
    EXPECT_LT(seconds, kLimitS) << item.name;
    EXPECT_LE(a.extracted.size(), 1'000U) << item.name;
    if (seconds > slowest) {
      slowest = seconds;
      slowest_name = item.name;
    }
  }
  EXPECT_LT(peak_kib() - before, kMemoryKib);
  std::printf("%zu items, slowest %.1f ms: %s\n", items.size(), 1e3 * slowest, slowest_name.c_str());
}

TEST(MathHostile, CallsAHostileGoldAnswerUnusableOrReadsIt) {
  const auto verifier = make_verifier("math", nlohmann::json::object(), VerifierSettings(), "[reward]", Locate());
  for (const Item& item : hostile_items()) {
    const std::size_t open = item.response.find("\\boxed{");
    if (open == std::string::npos || item.response.size() < open + 10) continue;
    Problem problem;
    problem.answer = item.response.substr(open + 7, item.response.size() - open - 9);
    const std::clock_t start = std::clock();
    const Assessment a = verifier->assess(problem, Rollout(), "\\boxed{123454321}");
    EXPECT_NE(name_of(a.verdict), "correct") << item.name;
    EXPECT_LT(seconds_since(start), kLimitS) << item.name;
  }
}

}  // namespace
}  // namespace maxplus
