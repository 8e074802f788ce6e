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
  constexpr Verdict yes = Verdict::correct, no = Verdict::wrong;
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
      {"tower of sevens", "6", box("7^{7^{7^{7}}}"), no},
      {"tower of fives", "6", box("5^{5^{5^{5^5}}}"), no},
      {"ten to ten to ten", "6", box("10^{10^{10}}"), no},
      {"tower without braces", "6", box("9^9^9^9^9^9^9"), no},
      {"tower of a thousand", "6", box(nested("2^{", "2", "}", 1'000)), no},
      {"negative tower", "0", box("2^{-2^{2^{2^{2^2}}}}"), no},
      {"tower of a half", "0", box("0.5^{9^{9^9}}"), no},
      {"one to a tower", "2", box("1^{9^{9^{9^9}}}"), no},
      {"power of a sum", "6", box("(x+y+z+w)^{64}"), no},
      {"power of a power of a sum", "6", box("((((x+1)^{60})^{60})^{60})^{60}"), no},
      {"power of a large sum", "6", box("(a+b+c+d+u+v+w+x+y+z)^{40}"), no},
      {"large power of a sum", "6", box("(x+1)^{99999999}"), no},
      {"thousandth root", "6", box("\\sqrt[1000000007]{12345678901234567890}"), no},
      {"root of a large number", "6", box("\\sqrt{" + repeated("7", 4'900) + "}"), no},
      {"root of a product of primes", "6", box("\\sqrt{1000000007000000063\\cdot 998244353}"), no},
      {"large fractional power", "6", box("123456789^{987654321/123456787}"), no},
      {"scientific beyond all", "6", box("1e999999999"), no},
      {"exponent too long", "6", box("1e" + repeated("9", 4'000)), no},
      {"tiny", "0", box("1e-99999"), no},
      {"tiny differs from tiny", "3^{-60}", box("3^{-61}"), no},
      {"huge differs from huge", "10^{10^{10}}", box("10^{10^{10}}+1"), no},
      {"huge equals huge", "10^{10^{10}}", box("(10^{10^9})^{10}"), yes},
      // Factorials and friends.
      {"factorial tower", "6", box("9!!!!!!!!"), no},
      {"endless factorials", "6", box("9" + repeated("!", 5'000)), no},
      {"million factorial", "6", box("1000000!"), no},
      {"factorial of a power", "6", box("(10^{100})!"), no},
      {"large binomial", "6", box("\\binom{1000000}{500000}"), no},
      {"binomial of binomials", "6", box(nested("\\binom{1000}{", "500", "}", 30)), no},
      {"percent chain", "6", box("6" + repeated("\\%", 3'000)), no},
      {"primes", "6", box("x" + repeated("'", 5'000)), no},
      // Nesting.
      {"deep parentheses", "6", box(nested("(", "6", ")", 100'000)), no},
      {"deep braces", "6", box(nested("{", "6", "}", 100'000)), no},
      {"deep fractions", "6", box(nested("\\frac{1}{1+", "6", "}", 3'000)), no},
      {"fraction of fifty floors", "6", box(nested("\\frac{1}{1+", "6", "}", 50)), no},
      {"deep roots", "6", box(nested("\\sqrt{1+", "6", "}", 3'000)), no},
      {"forty roots", "6", box(nested("\\sqrt{2+", "6", "}", 40)), no},
      {"deep sines", "6", box(nested("\\sin(", "x", ")", 60)), no},
      {"deep sets", "6", box(nested("\\{", "6", "\\}", 2'000)), no},
      {"deep text", "6", box(nested("\\text{", "6", "}", 1'000)), no},
      {"deep fonts", "6", box(nested("\\mathbf{", "6", "}", 1'000)), no},
      {"bars", "6", box(repeated("|", 9'000)), no},
      {"minus signs", "6", box(repeated("-", 9'001) + "6"), no},
      {"boxes in boxes", "6", nested("\\boxed{", "6", "}", 100'000), yes},
      // Length.
      {"a megabyte of sixes", "6", box(repeated("6", kMillion)), no},
      {"a megabyte of blanks", "6", box(repeated(" ", kMillion)), no},
      {"a megabyte of letters", "6", box(repeated("x", kMillion)), no},
      {"a megabyte of zeros before", "6", box(repeated("0", kMillion) + "6"), no},
      {"a megabyte of sums", "6", box(repeated("1+", kMillion / 2) + "1"), no},
      {"a megabyte of commas", "6", box(repeated("6,", kMillion / 2)), no},
      {"a megabyte without a box", "6", repeated("x ", kMillion / 2), no},
      {"numbers without a box", "6", repeated("6 5 ", kMillion / 4), no},
      {"a number of a megabyte without a box", "6", repeated("6", kMillion), no},
      {"a million open boxes", "6", repeated("\\boxed{", kMillion), no},
      {"a million empty boxes", "6", repeated("\\boxed{}", kMillion), no},
      {"a million boxes, the last is right", "6", repeated("\\boxed{5}", kMillion) + "\\boxed{6}", yes},
      {"a million boxes, the last is wrong", "6", repeated("\\boxed{6}", kMillion) + "\\boxed{5}", no},
      {"a million open braces", "6", repeated("{", kMillion), no},
      {"a million closing braces", "6", repeated("}", kMillion) + "\\boxed{6}", yes},
      {"a million backslashes", "6", repeated("\\", kMillion) + "boxed{6}", yes},
      {"a million tags", "6", repeated("<answer>", kMillion / 8), no},
      {"a million dollars", "6", repeated("$", kMillion) + "5", no},
      {"a million phrases", "6", repeated("the answer is ", kMillion / 14), no},
      {"nine thousand digits", "6", box(repeated("9", 9'000)), no},
      {"long decimals", "\\frac{1}{3}", box("0." + repeated("3", 4'990) + "4"), no},
      {"long decimal, cut", "\\frac{1}{3}", box("0." + repeated("3", 500)), yes},
      {"long period", "6", box("0.\\overline{" + repeated("12345", 900) + "}"), no},
      // Work.
      {"three hundred fractions", "6", box("0" + sum), no},
      {"three hundred roots", "6", box("0" + roots), no},
      {"square of three hundred roots", "6", box("(0" + roots + ")^2"), no},
      {"square of three hundred symbols", "6", box("(0" + symbols + ")^2"), no},
      {"product of large fractions", "6", box(repeated("\\frac{" + repeated("7", 200) + "}{" + repeated("3", 199) + "1}\\cdot ", 20) + "1"), no},
      {"long list", "\\{1,2\\}", box("\\{" + repeated("1,", 199) + "2\\}"), yes},
      {"list too long", "\\{1,2\\}", box("\\{" + repeated("1,", 3'000) + "2\\}"), no},
      {"long tuple", "6", box("(" + list + "6)"), no},
      {"plus-minus everywhere", "6", box(repeated("\\pm 1", 500)), no},
      {"large matrix", "6", box("\\begin{pmatrix}" + repeated("1&", 1'000) + "1\\end{pmatrix}"), no},
      {"long chain", "6", box(repeated("1<", 2'000) + "6"), no},
      {"long chain of equals", "6", box(repeated("6=", 150) + "5"), no},
      // Broken text.
      {"unbalanced", "6", box("\\frac{6}{1"), no},
      {"closing first", "6", box(")6("), no},
      {"unclosed environment", "6", box("\\begin{pmatrix} 6"), no},
      {"NUL byte", "42", box(nul), no},
      {"NUL bytes", "42", box(std::string(1'000, '\0')), no},
      {"NUL behind", "42", box("42" + std::string(1, '\0')), no},
      {"bad UTF-8", "42", box("42\xff"), no},
      {"cut UTF-8", "42", box("42\xe2\x88"), no},
      {"surrogate", "42", box("\xed\xa0\x80" "42"), no},
      {"overlong", "42", box("\xc0\xb4\xc0\xb2"), no},
      {"digits of another script", "42", box("\xd9\xa4\xd9\xa2"), no},
      {"right-to-left mark", "42", box("24\xe2\x80\xae"), no},
      {"escape at the end", "6", "\\boxed{6\\", no},
      {"unknown command", "6", box("\\input{/etc/passwd}"), no},
      {"definition", "6", box("\\def\\x{6}\\x"), no},
      // Cheating.
      {"all answers", "6", box("1,2,3,4,5,6"), no},
      {"or", "6", box("5 or 6"), no},
      {"interval", "6", box("[0,10]"), no},
      {"any number", "6", box("\\mathbb{R}"), no},
      {"the gold answer", "6", box("\\text{the gold answer}"), no},
      {"a variable", "6", box("x"), no},
      {"not a number", "6", box("NaN"), no},
      {"infinity", "6", box("\\infty"), no},
      {"infinity minus infinity", "0", box("\\infty-\\infty"), no},
      {"one over zero", "6", box("\\frac{1}{0}"), no},
      {"zero over zero", "0", box("\\frac{0}{0}"), no},
      {"hidden zero below", "0", box("\\frac{0}{\\sqrt2\\sqrt3-\\sqrt6}"), no},
      {"zero to the zero", "1", box("0^0"), no},
      {"a false equation", "6", box("5=6"), no},
      {"an identity", "x=5", box("0=0"), no},
      {"words around the number", "6", box("\\text{either 5 or }6"), no},
      {"a unit that lies", "6", box("6\\text{ or }7"), no},
      {"a unit that multiplies", "6", box("6\\text{ million}"), no},
      {"the box is in the words", "6", "I will not write \\boxed{6} but \\boxed{7}", no},
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
