// The verifier `sorting`: the given numbers in ascending order.
#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <vector>

#include "text/utf8.hpp"
#include "verify/all_verifiers.hpp"
#include "verify/extraction.hpp"

namespace maxplus {

const char* const kSortingGrammar =
    "The problem gives whole numbers in any order: a list, or text of them, as its \"answer\"; or a list \"numbers\" "
    "in "
    "or beside\n"
    "it. The answer taken is the inside of the last complete <answer>…</answer> of the response:\n"
    "    list = integer { separator integer }      separator = white space, \",\" or both\n"
    "Correct: the given numbers, each as often as it is given, in ascending order. No such tag or nothing in it: "
    "no_answer.\n"
    "Another order, other numbers, or anything that is no such list: wrong. No list of integers of up to 18 digits "
    "given:\n"
    "gold_unusable.";

namespace {

using Integers = std::vector<std::int64_t>;

std::optional<std::int64_t> short_integer(std::string_view text) {
  constexpr std::size_t kMostDigits = 18;
  const std::size_t digits = text.size() - (text.starts_with('-') ? 1 : 0);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (digits > kMostDigits || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Words between white space; a comma may stand behind a number, or alone between two.
std::optional<Integers> listed_integers(std::string_view text) {
  Integers numbers;
  bool number_next = true, comma_before = false;
  std::size_t at = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      ++at;
      number_next = true;
    } else if (c == ',') {
      if (comma_before || numbers.empty()) return std::nullopt;
      comma_before = number_next = true;
      ++at;
    } else {
      const std::size_t end = std::min(text.find_first_of(" \t\r\n,", at), text.size());
      const auto value = number_next ? short_integer(text.substr(at, end - at)) : std::nullopt;
      if (!value) return std::nullopt;
      numbers.push_back(*value);
      number_next = comma_before = false;
      at = end;
    }
  }
  return comma_before ? std::nullopt : std::optional(numbers);
}

std::optional<Integers> given_integers(const Problem& problem) {
  const Json* given = find_given(problem, "numbers");
  if (given == nullptr) given = &problem.answer;
  std::optional<Integers> numbers;
  if (given->is_string()) numbers = listed_integers(given->get_ref<const std::string&>());
  if (given->is_array()) {
    numbers.emplace();
    for (const Json& entry : *given) {
      const auto value = entry.is_number_integer() ? short_integer(entry.dump()) : std::nullopt;
      if (!value) return std::nullopt;
      numbers->push_back(*value);
    }
  }
  if (!numbers || numbers->empty()) return std::nullopt;
  std::sort(numbers->begin(), numbers->end());
  return numbers;
}

class SortingVerifier final : public Verifier {
 public:
  Assessment assess(const Problem& problem, const Rollout&, std::string_view response) const override {
    const auto gold = given_integers(problem);
    if (!gold) return judged(Verdict::gold_unusable, "");
    const std::string_view answer = trimmed(last_answer_tag(response).value_or(""));
    if (answer.empty()) return judged(Verdict::no_answer, "");
    return judged(listed_integers(answer) == gold ? Verdict::correct : Verdict::wrong, std::string(answer));
  }
};

}  // namespace

std::shared_ptr<const Verifier> make_sorting_verifier(KeyReader&, const VerifierSettings&) {
  return std::make_shared<SortingVerifier>();
}

}  // namespace maxplus
