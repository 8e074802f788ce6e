// The verifier `exact`: the same text.
#include "text/utf8.hpp"
#include "verify/all_verifiers.hpp"
#include "verify/extraction.hpp"

namespace maxplus {

const char* const kExactGrammar =
    "The answer taken is the inside of the last complete <answer>…</answer>, or the whole response where there is "
    "none, without\n"
    "white space at its ends. It is correct if it equals the gold answer byte for byte. A gold number counts as its "
    "shortest\n"
    "decimal text. An empty answer is no_answer; a gold answer that is empty, null, a list or an object is "
    "gold_unusable.";

namespace {

class ExactVerifier final : public Verifier {
 public:
  Assessment assess(const Problem& problem, const Rollout&, std::string_view response) const override {
    const auto gold = gold_text(problem.answer);
    if (!gold) return judged(Verdict::gold_unusable, "");
    const std::string_view answer = trimmed(last_answer_tag(response).value_or(response));
    if (answer.empty()) return judged(Verdict::no_answer, "");
    return judged(answer == *gold ? Verdict::correct : Verdict::wrong, std::string(answer));
  }
};

}  // namespace

std::shared_ptr<const Verifier> make_exact_verifier(KeyReader&, const VerifierSettings&) {
  return std::make_shared<ExactVerifier>();
}

}  // namespace maxplus
