// The verifier `word_problems`: nothing is given for form but that the answer ends by itself.
#include <algorithm>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "verify/all_verifiers.hpp"
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

bool is_ascii_digit(char c) { return c >= '0' && c <= '9'; }

// Without zeros in front, so that equal numbers are equal texts.
std::string canonical_integer(std::string_view text) {
  const bool negative = !text.empty() && text[0] == '-';
  if (negative) text.remove_prefix(1);
  while (text.size() > 1 && text[0] == '0') text.remove_prefix(1);
  return negative && text != "0" ? "-" + std::string(text) : std::string(text);
}

std::optional<std::string> last_integer(std::string_view response) {
  std::string text;
  for (const char c : response)
    if (c != ',') text += c;
  std::optional<std::string> last;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t digits = text[i] == '-' ? i + 1 : i;
    std::size_t end = digits;
    while (end < text.size() && is_ascii_digit(text[end])) ++end;
    if (end > digits) last = canonical_integer(std::string_view(text).substr(i, end - i));
    i = std::max(end, i + 1);
  }
  return last;
}

std::optional<std::string> gold_integer(const Problem& problem) {
  const std::optional<std::string> text = gold_text(problem.answer);
  if (!text) return std::nullopt;
  const std::optional<std::string> integer = last_integer(*text);
  const std::size_t sign = text->starts_with('-') ? 1 : 0;
  const bool whole = text->size() > sign && text->find_first_not_of("0123456789", sign) == std::string::npos;
  return whole ? integer : std::nullopt;
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
