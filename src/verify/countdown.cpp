// The verifier `countdown`: an expression of the given numbers, each once, that makes the target. Exact rationals.
//
// A recursive-descent parser with a depth limit; a sum of products of factors. All arithmetic is checked: what does not
// fit 127 bits is wrong, never wrapped.
#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

#include "text/utf8.hpp"
#include "verify/all_verifiers.hpp"
#include "verify/extraction.hpp"

namespace maxplus {

const char* const kCountdownGrammar =
    "The problem gives \"numbers\" (a list of integers) and \"target\" (an integer), in its \"answer\" or beside it (a "
    "target may be\n"
    "the answer itself). The answer taken is the inside of the last complete <answer>…</answer> of the response:\n"
    "    sum     = product { (\"+\" | \"-\") product }\n"
    "    product = factor { (\"*\" | \"/\") factor }\n"
    "    factor  = integer | \"-\" factor | \"(\" sum \")\"\n"
    "with white space anywhere between; × · ÷ − may stand for * * / -. Usual precedence, left to right, exact "
    "fractions. Correct:\n"
    "every given number is used exactly once, no other number, and the value is the target. No such tag or nothing in "
    "it:\n"
    "no_answer. A syntax error, a division by 0, an \"=\", more than 4,096 bytes or 64 levels: wrong. Unreadable "
    "numbers or\n"
    "target: gold_unusable.";

namespace {

constexpr std::size_t kMaxBytes = 4096;
constexpr int kMaxDepth = 64;

__extension__ using Wide = __int128;

Wide divisor(Wide a, Wide b) {
  while (b != 0) {
    const Wide rest = a % b;
    a = b;
    b = rest;
  }
  return a < 0 ? -a : a;
}

struct Rational {
  Wide above = 0, below = 1;  // below > 0, in lowest terms
};

std::optional<Rational> reduced(Wide above, Wide below) {
  if (below == 0) return std::nullopt;
  if (below < 0) {
    above = -above;
    below = -below;
  }
  const Wide common = divisor(above, below);
  return Rational{above / common, below / common};
}

std::optional<Rational> applied(const Rational& a, char op, const Rational& b) {
  Wide left = 0, right = 0, above = 0, below = 0;
  bool overflow = false;
  if (op == '*' || op == '/') {
    const Wide factor_above = op == '*' ? b.above : b.below, factor_below = op == '*' ? b.below : b.above;
    overflow =
        __builtin_mul_overflow(a.above, factor_above, &above) || __builtin_mul_overflow(a.below, factor_below, &below);
  } else {
    overflow = __builtin_mul_overflow(a.above, b.below, &left) || __builtin_mul_overflow(b.above, a.below, &right) ||
               __builtin_mul_overflow(a.below, b.below, &below) ||
               (op == '+' ? __builtin_add_overflow(left, right, &above) : __builtin_sub_overflow(left, right, &above));
  }
  constexpr Wide kLimit = Wide{1} << 120;  // so that negation and comparison are safe
  if (overflow || above > kLimit || above < -kLimit || below > kLimit || below < -kLimit) return std::nullopt;
  return reduced(above, below);
}

// × · ÷ − as * * / -.
std::string plain_operators(std::string_view text) {
  std::string plain;
  for (const std::string_view point : code_points(text)) {
    if (point == "\u00d7" || point == "\u00b7") {
      plain += '*';
    } else if (point == "\u00f7") {
      plain += '/';
    } else if (point == "\u2212") {
      plain += '-';
    } else {
      plain += point;
    }
  }
  return plain;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  // The value of the whole text, or nothing.
  std::optional<Rational> parse() {
    const auto value = sum(0);
    skip_space();
    return at_ == text_.size() ? value : std::nullopt;
  }
  std::vector<std::int64_t> used() const { return used_; }

 private:
  void skip_space() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) ++at_;
  }
  bool next_is(char a, char b) {
    skip_space();
    return at_ < text_.size() && (text_[at_] == a || text_[at_] == b);
  }

  std::optional<Rational> sum(int depth) {
    auto value = product(depth);
    while (value && next_is('+', '-')) {
      const char op = text_[at_++];
      const auto right = product(depth);
      value = right ? applied(*value, op, *right) : std::nullopt;
    }
    return value;
  }
  std::optional<Rational> product(int depth) {
    auto value = factor(depth);
    while (value && next_is('*', '/')) {
      const char op = text_[at_++];
      const auto right = factor(depth);
      value = right ? applied(*value, op, *right) : std::nullopt;
    }
    return value;
  }
  std::optional<Rational> factor(int depth) {
    if (depth > kMaxDepth) return std::nullopt;
    skip_space();
    if (at_ == text_.size()) return std::nullopt;
    if (text_[at_] == '-') {
      ++at_;
      const auto value = factor(depth + 1);
      return value ? std::optional(Rational{-value->above, value->below}) : std::nullopt;
    }
    if (text_[at_] == '(') {
      ++at_;
      const auto value = sum(depth + 1);
      if (!value || !next_is(')', ')')) return std::nullopt;
      ++at_;
      return value;
    }
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), number);
    if (error != std::errc()) return std::nullopt;
    at_ = static_cast<std::size_t>(end - text_.data());
    used_.push_back(number);
    return Rational{number, 1};
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::vector<std::int64_t> used_;
};

std::optional<std::int64_t> integer_of(const Json& value) {
  std::string text = value.is_string()   ? std::string(trimmed(value.get_ref<const std::string&>()))
                     : value.is_number() ? value.dump()
                                         : "";
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

struct GivenNumbers {
  std::vector<std::int64_t> numbers;  // sorted
  std::int64_t target = 0;
};

std::optional<GivenNumbers> given_of(const Problem& problem) {
  const Json* numbers = find_given(problem, "numbers");
  const Json* target = find_given(problem, "target");
  if (target == nullptr) target = &problem.answer;
  if (numbers == nullptr || !numbers->is_array() || numbers->empty()) return std::nullopt;
  GivenNumbers given;
  for (const Json& n : *numbers) {
    const auto value = integer_of(n);
    if (!value || *value < 0) return std::nullopt;
    given.numbers.push_back(*value);
  }
  std::sort(given.numbers.begin(), given.numbers.end());
  const auto value = integer_of(*target);
  if (!value) return std::nullopt;
  given.target = *value;
  return given;
}

class CountdownVerifier final : public Verifier {
 public:
  Assessment assess(const Problem& problem, const Rollout&, std::string_view response) const override {
    const auto given = given_of(problem);
    if (!given) return judged(Verdict::gold_unusable, "");
    const std::string_view answer = trimmed(last_answer_tag(response).value_or(""));
    if (answer.empty()) return judged(Verdict::no_answer, "");
    if (answer.size() > kMaxBytes) return judged(Verdict::wrong, std::string(answer.substr(0, kMaxBytes)));
    const std::string expression = plain_operators(answer);
    Parser parser(expression);
    const auto value = parser.parse();
    std::vector<std::int64_t> used = parser.used();
    std::sort(used.begin(), used.end());
    const bool right = value && value->below == 1 && value->above == given->target && used == given->numbers;
    return judged(right ? Verdict::correct : Verdict::wrong, std::string(answer));
  }
};

}  // namespace

std::shared_ptr<const Verifier> make_countdown_verifier(KeyReader&, const VerifierSettings&) {
  return std::make_shared<CountdownVerifier>();
}

}  // namespace maxplus
