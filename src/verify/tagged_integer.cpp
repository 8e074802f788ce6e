// The verifiers `arithmetic` and `letter_counting`: the whole number in the answer tag.
#include <optional>
#include <string>

#include "text/utf8.hpp"
#include "verify/all_verifiers.hpp"
#include "verify/decimal.hpp"
#include "verify/extraction.hpp"

namespace maxplus {

const char* const kArithmeticGrammar =
    "The answer taken is the inside of the last complete <answer>…</answer> of the response, without white space at "
    "its "
    "ends:\n"
    "    integer = [\"-\"] digit { digit }\n"
    "of any length; zeros in front do not count. Correct: it equals the gold answer, which is an integer, or text that "
    "is "
    "one. No\n"
    "such tag or nothing in it: no_answer. Anything else in it (a decimal point, a unit, an \"=\"): wrong. Any other "
    "gold\n"
    "answer: gold_unusable.";

const char* const kLetterCountingGrammar =
    "How often a letter stands in a word. The answer taken is the inside of the last complete <answer>…</answer> of "
    "the\n"
    "response, without white space at its ends:\n"
    "    count = digit { digit }\n"
    "zeros in front do not count. Correct: it equals the gold answer, which is an integer, or text that is one. No "
    "such "
    "tag or\n"
    "nothing in it: no_answer. Anything else in it: wrong. Any other gold answer: gold_unusable.";

namespace {

class TaggedIntegerVerifier final : public Verifier {
 public:
  Assessment assess(const Problem& problem, const Rollout&, std::string_view response) const override {
    const std::optional<std::string> text = gold_text(problem.answer);
    const std::optional<std::string> gold = text ? plain_integer(*text) : std::nullopt;
    if (!gold) return judged(Verdict::gold_unusable, "");
    const std::string_view answer = trimmed(last_answer_tag(response).value_or(""));
    if (answer.empty()) return judged(Verdict::no_answer, "");
    return judged(plain_integer(answer) == gold ? Verdict::correct : Verdict::wrong, std::string(answer));
  }
};

}  // namespace

std::shared_ptr<const Verifier> make_arithmetic_verifier(KeyReader&, const VerifierSettings&) {
  return std::make_shared<TaggedIntegerVerifier>();
}

std::shared_ptr<const Verifier> make_letter_counting_verifier(KeyReader&, const VerifierSettings&) {
  return std::make_shared<TaggedIntegerVerifier>();
}

}  // namespace maxplus
