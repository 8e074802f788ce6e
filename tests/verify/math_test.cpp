// The judge `math` rule by rule of its grammar: extraction, numbers, formulas, collections, relations, units, words.
#include <gtest/gtest.h>

#include "verify/extraction.hpp"
#include "verify/final_answer.hpp"
#include "verify/math/answer.hpp"
#include "verify/verifier.hpp"

namespace maxplus {
namespace {

struct Pair {
  const char *gold, *answer;
};

bool accepts(const char* gold, const char* answer, const math::Tolerance& tolerance = {}) {
  const math::Judge judge(gold, tolerance);
  EXPECT_TRUE(judge.understood()) << gold;
  return judge.understood() && judge.accepts(answer);
}

void same(const std::vector<Pair>& pairs) {
  for (const Pair& p : pairs) {
    EXPECT_TRUE(accepts(p.gold, p.answer)) << p.gold << " <- " << p.answer;
    EXPECT_TRUE(accepts(p.answer, p.gold)) << p.answer << " <- " << p.gold;
  }
}

void different(const std::vector<Pair>& pairs) {
  for (const Pair& p : pairs) EXPECT_FALSE(accepts(p.gold, p.answer)) << p.gold << " <- " << p.answer;
}

TEST(MathNumbers, HaveOneValueInAllSpellings) {
  same({{"1234567", "1,234,567"}, {"1234567", R"(1{,}234{,}567)"}, {"1234567", R"(1\,234\,567)"}, {"1234", R"(1,\!234)"}, {"0.5", ".5"}, {"7", "007"},
        {"6.02e23", R"(6.02 \times 10^{23})"}, {"1e-3", "0.001"}, {R"(\frac{1}{3})", R"(0.\overline{3})"}, {R"(\frac{1}{6})", R"(0.1\overline{6})"},
        {"-7", "\xe2\x88\x92" "7"}, {R"(45\%)", "0.45"}, {R"(45\%)", "45 percent"}, {"3.5", R"(3\frac{1}{2})"}, {"3.5", "3 1/2"}, {"-3.5", R"(-3\frac12)"}, {"1/2", R"(\tfrac12)"},
        {"2", "2."}, {"10^{10^{10}}", R"(100^{5\cdot 10^9})"}, {"0", "-0"}, {"12", "$12$"}, {"12", R"(\$12)"}, {"1/2", "\xc2\xbd"}});
  different({{"1234", "1,23,4"}, {"1000", "1, 000"}, {"42", "42,"  "0"}, {"1/3", "0.333"}, {"0.45", "45"}, {R"(45\%)", "45"}, {"31/2", "3 1/2"}, {"7/2", "31/2"}, {"12", "1 2"}, {"6", "2{3}"},
             {"12", "1.2.3"}, {"5", "5..."}, {"10^{10^{10}}", "10^{10^{11}}"}, {"1e9999999", "1e9999998"}, {"0", "0^0"}, {"1", "0/0"}, {"0", R"(\infty-\infty)"}, {"1", R"(\infty/\infty)"}});
}

TEST(MathNumbers, MayBeCutDecimalsOfNineDigits) {
  same({{R"(\frac{2}{3})", "0.666666667"}, {R"(\frac{2}{3})", "0.666666666"}, {R"(\pi)", "3.14159265"}, {R"(\sqrt{2})", "1.414213562"}, {R"(-\sqrt{2})", "-1.414213562"},
        {R"(\frac{1}{3^{60}})", R"(2.35898248\times 10^{-29})"}});
  different({{R"(\frac{2}{3})", "0.66666667"}, {R"(\frac{2}{3})", "0.666666668"}, {R"(\pi)", "3.14159264"}, {R"(\frac{1}{8})", "0.124999999"}, {"0.123456789", "0.1234567891"},
             {"3^{-60}", "3^{-61}"}, {R"(\pi)", "3.1415926"}, {"1000000000", "1000000000.1"}, {R"(\ln 2)", "0.693147180"}});
  math::Tolerance never;
  never.cut_digits = 0;
  EXPECT_FALSE(accepts(R"(\pi)", "3.14159265358979", never));
  math::Tolerance hundredth;
  hundredth.relative = 0.01;
  EXPECT_TRUE(accepts("100", "99.5", hundredth));
  EXPECT_TRUE(accepts(R"(\pi)", "3.14", hundredth));
  EXPECT_FALSE(accepts("100", "98.5", hundredth));
  EXPECT_FALSE(accepts("0", "0.0001", hundredth));
  EXPECT_FALSE(accepts("-100", "100", hundredth));
}

TEST(MathFormulas, AreComparedTermByTerm) {
  same({{R"(2\sqrt{8})", R"(4\sqrt2)"}, {R"(\frac{1}{\sqrt2})", R"(\frac{\sqrt2}{2})"}, {R"(\sqrt{2}\sqrt{3})", R"(\sqrt{6})"}, {R"(\sqrt{x}\sqrt{x})", "x"}, {R"(\sqrt{4x})", R"(2\sqrt{x})"},
        {R"(\frac{1}{\sqrt{a+b}})", R"(\frac{\sqrt{a+b}}{a+b})"}, {R"((\sqrt{a+b})^2)", "a+b"}, {R"(\sqrt{-4})", "2i"}, {R"(\sqrt[3]{-8})", "-2"}, {R"(\sqrt[3]{54})", R"(3\sqrt[3]{2})"},
        {"(x+1)^2", "x^2+2x+1"}, {"x(x+1)", "x^2+x"}, {R"(\frac{x^2-1}{x-1})", "x+1"}, {R"(\frac{x}{y}+\frac{y}{x})", R"(\frac{x^2+y^2}{xy})"}, {"x^{-1}", "1/x"}, {"2^{n+2}", R"(4\cdot 2^n)"},
        {"9^n", "3^{2n}"}, {"6^n", R"(2^n\cdot 3^n)"}, {"x^{m+n}", "x^m x^n"}, {R"(e^{x}\cdot e)", "e^{x+1}"}, {"(1+i)^2", "2i"}, {"i^{4}", "1"}, {R"(\ln 8)", R"(3\ln 2)"}, {R"(\log_2 8)", "3"},
        {R"(\log_4 8)", "1.5"}, {R"(\frac{\log 8}{\log 2})", "3"}, {R"(\ln e^2)", "2"}, {R"(\sin 30^\circ)", R"(\frac12)"}, {R"(\sin\frac{\pi}{6})", R"(\frac12)"}, {R"(\cos\frac{3\pi}{4})", R"(-\frac{\sqrt2}{2})"},
        {R"(\tan 60^\circ)", R"(\sqrt3)"}, {R"(\sin(x+1))", R"(\sin(1+x))"}, {R"(\sin^2 x)", R"((\sin x)^2)"}, {"|{-3}|", "3"}, {R"(|1-\sqrt2|)", R"(\sqrt2-1)"}, {"|a-b|", "|b-a|"}, {"5!", "120"},
        {R"(\binom{5}{2})", "10"}, {R"(\lfloor 2.7 \rfloor)", "2"}, {"x_1+x_2", "x_2+x_1"}, {R"(\pi r^2)", R"(r^2\pi)"}, {R"(2\alpha)", R"(\alpha+\alpha)"}, {"sqrt(3)/2", R"(\frac{\sqrt3}{2})"},
        {R"(\frac{\pi}{4})", "\xcf\x80/4"}, {"x\xc2\xb2", "x^2"}, {"2^3^2", "512"}, {"-2^2", "-4"}, {"(-2)^2", "4"}, {"2*3", R"(2\times3)"}, {"2abc", "2bca"}});
  different({{R"(\sqrt{x^2})", "x"}, {"(x^2)^{1/2}", "x"}, {"(-8)^{1/3}", "-2"}, {R"(\log 100)", "2"}, {R"(\sin x)", R"(\cos x)"}, {R"(\sin 2x)", R"(2\sin x)"}, {R"(\sqrt{a+b})", R"(\sqrt a+\sqrt b)"},
             {"2^{n}", "n^2"}, {"3^n+1", "3^{n+1}"}, {"x_1", "x_2"}, {"x", "X"}, {"f(2)", "2f"}, {R"(\sqrt{2}+\sqrt{3})", R"(\sqrt{5})"}, {"2^9", "2^{10}"}, {R"(\ln 2)", R"(\log 2)"}, {"x/2", "1/2x"},
             {R"(\frac{22}{7})", R"(\pi)"}, {"i", "-i"}, {"e", "2.718281828"}, {"x'", "x"}, {"|x|", "x"}});
}

TEST(MathCollections, KeepOrRefuseOrder) {
  same({{R"(\{1,2,2\})", R"(\{2,1\})"}, {"3,4", "4,3"}, {"3,4", R"(\{4,3\})"}, {R"(\pm 2)", "2,-2"}, {R"(1\pm\sqrt2)", R"(1-\sqrt2, 1+\sqrt2)"}, {R"(x=\pm2)", R"(\pm 2)"}, {R"(\{\pm 1\})", R"(\{1,-1\})"},
        {"(4,9)", R"(\left( 4 , 9 \right))"}, {"[0,1)", R"([0,\tfrac{2}{2}))"}, {R"((-\infty,1)\cup(2,\infty))", R"((2,\infty)\cup(-\infty,1))"}, {R"(\emptyset)", R"(\{\})"},
        {R"(\begin{pmatrix}1\\2\end{pmatrix})", "(1,2)"}, {R"(\frac12\begin{pmatrix}2&4\end{pmatrix})", R"(\begin{bmatrix}1&2\end{bmatrix})"}, {R"(\mathbb{R})", R"(\text{all real numbers})"},
        {R"(\mathbb{R})", R"((-\infty,\infty))"}, {"1 or 2", R"(1 \text{ or } 2)"}, {"x=1,y=2", "y=2,x=1"}, {"1:2", "1 : 2"}, {R"(\langle 1,2\rangle)", "(1,2)"}});
  different({{"(4,9)", "(9,4)"}, {"(4,9)", R"(\{4,9\})"}, {"(4,9)", "4,9"}, {"(4,9)", "[4,9]"}, {"[0,1)", "[0,1]"}, {"1,1,2", "1,2"}, {R"(\pm2)", "2"}, {"1,2", "x=1,y=2"}, {"x=1,y=2", "x=2,y=1"},
             {R"(\emptyset)", "0"}, {R"(\emptyset)", R"(\{0\})"}, {"3", R"(\{3\})"}, {"3", R"(x\in\{3\})"}, {R"(\begin{pmatrix}1&2\end{pmatrix})", R"(\begin{pmatrix}1\\2\end{pmatrix})"}, {"1:2", "2:1"},
             {R"(\begin{pmatrix}1&2\\3&4\end{pmatrix})", R"(\begin{pmatrix}1&3\\2&4\end{pmatrix})"}, {"1,2", "1"}, {"1", "1,1"}, {R"((-\infty,1)\cup(2,\infty))", R"((-\infty,1)\cap(2,\infty))"}});
}

TEST(MathRelations, AreEqualUpToSidesAndAFactor) {
  same({{"5", "x=5"}, {"5", "AB = 5"}, {"x=5", "5=x"}, {"y=2x+3", "2x-y+3=0"}, {"y=2x+3", "2y=4x+6"}, {"x>3", "3<x"}, {"x>3", R"((3,\infty))"}, {R"(x\le 2)", R"((-\infty,2])"}, {"-x<-3", "x>3"},
        {"0<x<5", "(0,5)"}, {R"(0\le x<5)", "[0,5)"}, {"5>x>0", "0<x<5"}, {R"(x<1\text{ or }x>5)", R"((-\infty,1)\cup(5,\infty))"}, {R"(x\in[0,1))", "[0,1)"}, {R"(x \ne 2)", R"(2\neq x)"},
        {"x=1 or x=2", "1,2"}, {"5", "2+3=5"}, {"f(x)=x+1", "x+1"}, {"5", R"(x=\frac{10}{2}=5)"}, {"(1,2)", "(x,y)=(1,2)"}, {R"(A=\{1,2\})", R"(\{2,1\})"}, {"12", R"(\text{Area}=12)"}});
  different({{"x=5", "y=5"}, {"5", "2x=10"}, {"x^2=4", "x=2"}, {"x>3", R"(x\ge3)"}, {"x>3", "x<3"}, {"x>3", "-x>-3"}, {"x>3", R"([3,\infty))"}, {"5", "5=6"}, {"5", "x=5=6"}, {R"(x\ne 2)", "x=2"}, {"x=x", "0=0"},
             {"x=1 or x=2", "x=1 or y=2"}, {"y=1/x", "x=0"}, {"0<x<5", "[0,5]"}, {"5", "x>5"}, {"AB=CD", "CD"}});
}

TEST(MathUnits, AreIgnoredOnOneSideOnly) {
  same({{"12", R"(12\text{ cm})"}, {"12", R"(12~\mathrm{cm}^2)"}, {"12", "12 cm"}, {"12", R"(12 \text{ red apples})"}, {R"(5\text{ m})", R"(5\text{ meters})"}, {R"(5\text{ cm}^2)", R"(5\text{ square centimeters})"},
        {R"(5\text{ km/h})", R"(5\text{ kilometers per hour})"}, {R"(90^\circ)", "90"}, {R"(90^\circ)", "90 degrees"}, {"18", R"(\$18)"}, {"18", R"(18 \text{ dollars})"}});
  different({{R"(5\text{ m})", R"(5\text{ cm})"}, {"5", R"(5 \text{ million})"}, {"5", R"(5 \text{ or more})"}, {"5", R"(\text{not }5)"}, {"5", R"(5 \text{ percent})"}, {"12", R"(1\text{ dozen})"}, {"1", R"(1\text{ dozen})"},
             {R"(90^\circ)", R"(\frac{\pi}{2})"}, {"5", "5m"}, {"5", R"(5 \text{ ft } 3 \text{ in})"}, {"5", R"(5 \text{ a b c d e})"}, {"5", R"(5\text{ thirds})"}});
}

TEST(MathWords, KeepTheCaseOfSingleLettersOnly) {
  same({{R"(\text{Evelyn})", "Evelyn"}, {"badger", "Badger"}, {R"(\text{(C)})", "C"}, {R"(\text{C})", "(C)"}, {R"(\text{June})", R"(\textbf{june})"}, {"Yes", "yes."},
        {"2516_8", "2516_{8}"}});
  EXPECT_TRUE(accepts(R"(\text{New York})", "New  York"));  // bare prose is no gold answer
  different({{"C", "c"}, {"C", "B, C or D"}, {"badger", "gerbad"}, {R"(\text{June})", "July"}, {"2516_8", "1358"}, {"2516_8", "2516"}, {"2516_8", "2516_7"}, {"10:30", "10:31"}});
}

TEST(MathGold, IsUnusableWhereItCannotBeRead) {
  for (const char* gold : {"", "as drawn", R"(\frac{1}{0})", R"(\int_0^1 x)", "1 2", R"(\frac{1}{2)", "((", "1/2x", "x = ", R"(\foo{3})", "2+", "\xff"})
    EXPECT_FALSE(math::Judge(gold, {}).understood()) << gold;
  const auto verifier = make_verifier("math", nlohmann::json::object(), VerifierSettings(), "[reward]", Locate());
  const auto verdict = [&](const Json& gold, std::string_view response) {
    Problem problem;
    problem.answer = gold;
    return std::string(name_of(verifier->assess(problem, Rollout(), response).verdict));
  };
  EXPECT_EQ(verdict(nullptr, "\\boxed{3}"), "gold_unusable");
  EXPECT_EQ(verdict(Json::array({3}), "\\boxed{3}"), "gold_unusable");
  EXPECT_EQ(verdict(3, "\\boxed{3}"), "correct");
  EXPECT_EQ(verdict(0.5, "\\boxed{1/2}"), "correct");
  EXPECT_EQ(verdict("6*7 = 42\n#### 42", "\\boxed{42}"), "correct");
  EXPECT_EQ(verdict("so \\boxed{42}", "\\boxed{42}"), "correct");
  EXPECT_EQ(verdict("$42$", "\\boxed{42}"), "correct");
}

TEST(MathKeys, MayAskForABox) {
  const auto verifier = make_verifier("math", {{"require_box", "yes"}}, VerifierSettings(), "[reward]", Locate());
  Problem problem;
  problem.answer = 3;
  EXPECT_EQ(verifier->assess(problem, Rollout(), "The answer is 3.").verdict, Verdict::no_answer);
  EXPECT_EQ(verifier->assess(problem, Rollout(), "\\boxed{3}").verdict, Verdict::correct);
}

TEST(FinalAnswer, IsTheLastInTheOrderOfTheGrammar) {
  const auto found = [](std::string_view response) {
    const auto answer = final_answer(response, AnswerPlaces::all);
    return answer ? std::string(*answer) : "nothing";
  };
  EXPECT_EQ(found("\\boxed{1} <answer>2</answer> the answer is 3"), "1");
  EXPECT_EQ(found("the answer is 3 <answer>2</answer> 4"), "2");
  EXPECT_EQ(found("The answer is 3. I used 4"), "3");
  EXPECT_EQ(found("ANSWER: **3**"), "3");
  EXPECT_EQ(found("The final answer is $\\frac{1}{2}$, as 3"), "\\frac{1}{2}");
  EXPECT_EQ(found("The answer is \\( 3.5 \\)."), "3.5");
  EXPECT_EQ(found("The answer is 3.5."), "3.5");
  EXPECT_EQ(found("the answer is"), "nothing");
  EXPECT_EQ(found("12 + 3 = 15"), "15");
  EXPECT_EQ(found("so $x = \\frac{3}{4}$"), "\\frac{3}{4}");
  EXPECT_EQ(found("so x = \\frac{3}{4}"), "nothing");
  EXPECT_EQ(found("so x^2"), "nothing");
  EXPECT_EQ(found("12 + 3"), "nothing");
  EXPECT_EQ(found("it is 45%"), "45%");
  EXPECT_EQ(found("it is 45\\% then"), "45\\%");
  EXPECT_EQ(found("no number"), "nothing");
  EXPECT_EQ(found(""), "nothing");
  EXPECT_EQ(found("\\boxed{}"), "");
  EXPECT_EQ(found("\\boxed{1} \\boxed{2"), "1");
  EXPECT_EQ(found("\\boxed{\\frac{1}{2}} \\fbox{\\{3\\}}"), "\\{3\\}");
  EXPECT_EQ(found("\\boxed{\\left\\{ 3 \\right.}"), "\\left\\{ 3 \\right.");
  EXPECT_EQ(found("\\boxed 6"), "6");
  EXPECT_EQ(found("} \\boxed{7} {"), "7");
  EXPECT_EQ(found("\\\\boxed{7}"), "7");
}

}  // namespace
}  // namespace maxplus
