// The verifier `word_problems`: nothing is given for form but that the answer ends by itself.
#include <algorithm>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "verify/all_verifiers.hpp"
#include "verify/characters.hpp"
#include "verify/decimal.hpp"
#include "verify/extraction.hpp"

namespace maxplus {

const char* const kWordProblemsGrammar =
    "The answer taken is the last integer of the response: digits with an optional '-' directly before them, after all "
    "commas\n"
    "are removed (1,234 is 1234; in \"14-7=7\" the integers are 14, -7 and 7). Correct: it equals the gold answer, and "
    "the response\n"
    "ended by itself (finish \"stopped\"). Not ended, or no integer: no_answer. The gold answer is an integer, or text "
    "that is one;\n"
    "anything else is gold_unusable.";

namespace {

std::optional<std::string> last_integer(std::string_view response) {
  std::string text;
  for (const char c : response)
    if (c != ',') text += c;
  std::optional<std::string> last;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t digits = text[i] == '-' ? i + 1 : i;
    std::size_t end = digits;
    while (end < text.size() && is_digit(text[end])) ++end;
    if (end > digits) last = plain_integer(std::string_view(text).substr(i, end - i));
    i = std::max(end, i + 1);
  }
  return last;
}

std::optional<std::string> gold_integer(const Problem& problem) {
  const std::optional<std::string> text = gold_text(problem.answer);
  if (!text) return std::nullopt;
  return plain_integer(*text);
}

class WordProblemsVerifier final : public Verifier {
 public:
  Assessment assess(const Problem& problem, const Rollout& rollout, std::string_view response) const override {
    const std::optional<std::string> gold = gold_integer(problem);
    if (!gold) return judged(Verdict::gold_unusable, "");
    const std::optional<std::string> answer = last_integer(response);
    if (!answer) return judged(Verdict::no_answer, "");
    if (rollout.finish != Finish::stopped) return judged(Verdict::no_answer, *answer);
    return judged(*answer == *gold ? Verdict::correct : Verdict::wrong, *answer);
  }
};

}  // namespace

std::shared_ptr<const Verifier> make_word_problems_verifier(KeyReader&, const VerifierSettings&) {
  return std::make_shared<WordProblemsVerifier>();
}

}  // namespace maxplus
