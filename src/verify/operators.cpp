// The verifier `operators` of the quickstart's task: only what stands behind the last arrow counts, the reasoning is
// not read.
#include <array>
#include <charconv>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "text/utf8.hpp"
#include "verify/all_verifiers.hpp"
#include "verify/extraction.hpp"

namespace maxplus {

const char* const kOperatorsGrammar =
    "The problem gives three numbers and a target: {\"numbers\": [9, 3, 6], \"target\": 12} in \"answer\" or beside "
    "it, or as the\n"
    "prompt \"9 3 6 = 12 :\". The response is words between white space. Correct: it ended by itself (finish "
    "\"stopped\"); exactly\n"
    "five words follow the last \"->\"; words 1, 3, 5 are the three numbers in order, words 2 and 4 are + - or *; and "
    "the value,\n"
    "computed from left to right without precedence, is the target. Not ended, or no arrow, or nothing behind it: "
    "no_answer.\n"
    "Anything else: wrong. No three numbers and target: gold_unusable.";

namespace {

struct GivenOperands {
  std::array<std::int64_t, 3> number{};
  std::int64_t target = 0;
};

constexpr std::int64_t kLargest = 1'000'000;  // products of three stay within 64 bits

std::optional<std::int64_t> integer_of(std::string_view word) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size() || value < -kLargest || value > kLargest)
    return std::nullopt;
  return value;
}

std::optional<GivenOperands> given_in_keys(const Problem& problem) {
  const Json* numbers = find_given(problem, "numbers");
  const Json* target = find_given(problem, "target");
  if (target == nullptr && problem.answer.is_number_integer()) target = &problem.answer;
  if (numbers == nullptr || target == nullptr || !numbers->is_array() || numbers->size() != 3) return std::nullopt;
  GivenOperands given;
  for (std::size_t i = 0; i < 3; ++i) {
    const auto n = integer_of((*numbers)[i].dump());
    if (!n) return std::nullopt;
    given.number[i] = *n;
  }
  const auto t = integer_of(target->dump());
  if (!t) return std::nullopt;
  given.target = *t;
  return given;
}

std::optional<GivenOperands> given_in_prompt(std::string_view prompt) {
  const std::vector<std::string_view> word = split_words(prompt);
  if (word.size() < 5 || word[3] != "=") return std::nullopt;
  const auto a = integer_of(word[0]), b = integer_of(word[1]), c = integer_of(word[2]), t = integer_of(word[4]);
  if (!a || !b || !c || !t) return std::nullopt;
  return GivenOperands{{*a, *b, *c}, *t};
}

bool is_right(const GivenOperands& given, const std::vector<std::string_view>& word) {
  if (word.size() != 5) return false;
  for (std::size_t i = 0; i < 3; ++i) {
    if (word[2 * i] != fmt::format("{}", given.number[i])) return false;
  }
  std::int64_t value = given.number[0];
  for (std::size_t i = 1; i < 3; ++i) {
    const std::string_view op = word[2 * i - 1];
    if (op == "+") {
      value += given.number[i];
    } else if (op == "-") {
      value -= given.number[i];
    } else if (op == "*") {
      value *= given.number[i];
    } else {
      return false;
    }
  }
  return value == given.target;
}

class OperatorsVerifier final : public Verifier {
 public:
  Assessment assess(const Problem& problem, const Rollout& rollout, std::string_view response) const override {
    auto given = given_in_keys(problem);
    if (!given) given = given_in_prompt(problem.prompt_text);
    if (!given) return judged(Verdict::gold_unusable, "");
    std::vector<std::string_view> word = split_words(response);
    std::size_t begin = word.size();
    while (begin > 0 && word[begin - 1] != "->") --begin;
    if (begin == 0) return judged(Verdict::no_answer, "");
    word.erase(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(begin));
    const std::string answer = fmt::format("{}", fmt::join(word, " "));
    if (answer.empty() || rollout.finish != Finish::stopped) return judged(Verdict::no_answer, answer);
    return judged(is_right(*given, word) ? Verdict::correct : Verdict::wrong, answer);
  }
};

}  // namespace

std::shared_ptr<const Verifier> make_operators_verifier(KeyReader&, const VerifierSettings&) {
  return std::make_shared<OperatorsVerifier>();
}

}  // namespace maxplus
