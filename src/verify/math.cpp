// The verifier `math`: the same mathematical answer, compared exactly.
#include <optional>
#include <string>

#include "text/utf8.hpp"
#include "verify/all_verifiers.hpp"
#include "verify/extraction.hpp"
#include "verify/final_answer.hpp"
#include "verify/math/answer.hpp"

namespace maxplus {

const char* const kMathGrammar =
    "Only the response is searched, never the prompt. The answer taken is the inside of the last complete "
    "\\boxed{…} or\n"
    "\\fbox{…} (\\boxed 6 too); without one, of the last complete <answer>…</answer>; without one, what follows the "
    "last \"answer\n"
    "is\", \"answers are\" or \"answer:\", up to the end of its formula, sentence or line; without that, the last "
    "number "
    "of the last\n"
    "10,000 bytes, or the formula it stands in behind its last =. With require_box = \"yes\" only a box counts. "
    "Nothing "
    "found, or\n"
    "an empty answer: no_answer.\n"
    "\n"
    "Correct: the gold answer and the answer have the same value by exact arithmetic in rational numbers; nothing is "
    "rounded. What\n"
    "cannot be read, or is not shown to be equal, is wrong, unless it is the gold answer byte for byte. A gold answer "
    "that cannot\n"
    "be read is gold_unusable: empty, beyond a limit, or several words outside \\text{}. A gold answer may stand in a "
    "box, in $ $, or\n"
    "behind ####.\n"
    "\n"
    "Numbers     42  -7  .5  1,234,567  1{,}000  1\\,000  6.02e23  1.2 \\times 10^{-4}  0.\\overline{3}  45\\%  (= "
    "0.45)\n"
    "            A comma before exactly three digits separates thousands, but not inside (), [] and \\{\\}.\n"
    "Fractions   \\frac{1}{2} \\frac12 \\dfrac \\tfrac 1/2; 3\\frac{1}{2} and 3 1/2 are mixed numbers. 1/2x is not "
    "read.\n"
    "Operators   + - * / ^ ! \\cdot \\times \\div \\pm \\binom |x| \\lfloor x \\rfloor; 2^10 is 1024; a number behind "
    "a "
    "number is not read.\n"
    "Roots, pi   \\sqrt{8} = 2\\sqrt2, \\sqrt[3]{16}, 1/\\sqrt2 = \\sqrt2/2; \\pi, e and i (i^2 = -1) are constants.\n"
    "Formulas    Letters are symbols, side by side a product; sums of products are multiplied out and compared as "
    "fractions, so\n"
    "            (x+1)^2 = x^2+2x+1 and 3^{n+1} = 3 \\cdot 3^n. \\ln 8 = 3 \\ln 2, \\log_2 8 = 3, \\sin 30^\\circ = "
    "1/2; "
    "\\log has an\n"
    "            unknown base. Other functions equal themselves with an equal argument.\n"
    "Collections (4,9) in order with its brackets (tuple or interval); \\{1,2\\} without order or repetition; 1, 2 or "
    "\"1 or 2\"\n"
    "            without order; a list equals the set, neither equals a tuple; \\pm 2 is the list 2, -2. Unions in any "
    "order;\n"
    "            pmatrix and bmatrix; a column equals the tuple; 1:2 equals itself only.\n"
    "Relations   Equations up to sides and a factor; x = 5 equals 5, and x \\in S equals S; x > 3 equals 3 < x and "
    "(3,\\infty);\n"
    "            0 < x < 5 equals (0,5).\n"
    "Units       \\text{…} or a known unit behind a number, dollar signs and ^\\circ. A unit on one side is ignored; "
    "two "
    "must be the\n"
    "            same unit; nothing is converted. Words that change a number (million, or, …) are no unit.\n"
    "Words       \\text{…}, or bare words of three letters and more: equal apart from case (of more than three "
    "letters), "
    "blanks and\n"
    "            punctuation at the ends. Single letters keep their case. 2516_8 is a numeral and equals itself only.\n"
    "\n"
    "Decimals that were cut: where one side is a decimal of at least cut_digits significant digits and the other a "
    "number that no\n"
    "decimal can write in full (2/3, \\sqrt2, \\pi), they are equal if they differ by less than one unit of the last "
    "digit written.\n"
    "\n"
    "Limits: 10,000 bytes an answer; 5,000 digits a number, written or computed (a power beyond is compared by base "
    "and "
    "exponent,\n"
    "so 10^{10^{10}} is read); brackets 64 deep; 4,000 symbols and operations; 200 items; 400 terms of a sum; powers "
    "of "
    "sums are\n"
    "multiplied out up to 64; factorials and binomials up to 1,000; 8 of ! % ' on one factor; 1,500,000 steps of "
    "arithmetic. Beyond\n"
    "any of them an answer is wrong, a gold answer gold_unusable.";

namespace {

constexpr std::string_view kGoldMark = "####";
constexpr std::size_t kShownBytes = 1'000;

std::string_view gold_part(std::string_view gold) {
  if (const auto box = last_box(gold)) return trimmed(*box);
  const std::size_t mark = gold.rfind(kGoldMark);
  return trimmed(mark == std::string_view::npos ? gold : gold.substr(mark + kGoldMark.size()));
}

class MathVerifier final : public Verifier {
 public:
  MathVerifier(AnswerPlaces places, const math::Tolerance& tolerance) : places_(places), tolerance_(tolerance) {}

  Assessment assess(const Problem& problem, const Rollout&, std::string_view response) const override {
    const auto gold = gold_text(problem.answer);
    if (!gold) return judged(Verdict::gold_unusable, "");
    const math::Judge judge(gold_part(*gold), tolerance_);
    if (!judge.understood()) return judged(Verdict::gold_unusable, "");
    const auto answer = final_answer(response, places_);
    if (!answer || without_wrapping(*answer).empty()) return judged(Verdict::no_answer, "");
    return judged(judge.accepts(*answer) ? Verdict::correct : Verdict::wrong,
                  std::string(answer->substr(0, kShownBytes)));
  }

 private:
  AnswerPlaces places_;
  math::Tolerance tolerance_;
};

}  // namespace

std::shared_ptr<const Verifier> make_math_verifier(KeyReader& keys, const VerifierSettings&) {
  const std::string box = keys.choice("require_box", "no", {"no", "yes"}, "whether only a box holds an answer");
  math::Tolerance tolerance;
  tolerance.cut_digits = static_cast<std::size_t>(
      keys.integer("cut_digits", 9, 0, 100, "significant digits a decimal needs to stand for 2/3 or \\pi; 0: never"));
  tolerance.relative = keys.number("relative_tolerance", 0, 0, 1,
                                   "largest difference of numbers that counts as equal, as a share of the gold number");
  return std::make_shared<MathVerifier>(box == "yes" ? AnswerPlaces::box_only : AnswerPlaces::all, tolerance);
}

}  // namespace maxplus
