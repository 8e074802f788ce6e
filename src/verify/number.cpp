// The verifier `number`: the same number, compared exactly unless a tolerance is named.
#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "text/utf8.hpp"
#include "verify/all_verifiers.hpp"
#include "verify/decimal.hpp"
#include "verify/extraction.hpp"

namespace maxplus {

const char* const kNumberGrammar =
    "A number: sign, digits (with or without thousands commas), decimals, exponent; or a fraction a/b of two such. 12, "
    "-3.50,\n"
    "1,234, 6e3, 3/4. Currency and percent signs around it are ignored; digits inside a word (x1, 3rd) are no number.\n"
    "The answer taken is the only number inside the last complete <answer>…</answer>; without such a tag inside the "
    "last\n"
    "\\boxed{…}; without a box behind the last \"####\"; without that it is the last number of the response. Several "
    "numbers\n"
    "inside a tag, a box or behind #### are wrong, none is no_answer.\n"
    "Correct: equal to the gold number exactly (decimals and fractions, no rounding), or within `tolerance`, or "
    "within\n"
    "`relative_tolerance` times the gold number (both compared in double precision). The gold answer is a number, or "
    "text that\n"
    "is one number (behind its last \"####\", if it has one); anything else is gold_unusable.";

namespace {

constexpr std::string_view kMark = "####";

std::optional<std::string_view> after_mark(std::string_view text) {
  const std::size_t at = text.rfind(kMark);
  return at == std::string_view::npos ? std::nullopt : std::optional(text.substr(at + kMark.size()));
}

// Nothing but the number and signs of currency or percent.
bool is_only(std::string_view text, const TextNumber& number) {
  std::string rest(text);
  rest.erase(static_cast<std::size_t>(number.text.data() - text.data()), number.text.size());
  return rest.find_first_not_of(" \t\r\n$%.") == std::string::npos;
}

class NumberVerifier final : public Verifier {
 public:
  NumberVerifier(double tolerance, double relative) : tolerance_(tolerance), relative_(relative) {}

  Assessment assess(const Problem& problem, const Rollout&, std::string_view response) const override {
    const auto gold_words = gold_text(problem.answer);
    if (!gold_words) return judged(Verdict::gold_unusable, "");
    const std::string_view gold_region = trimmed(after_mark(*gold_words).value_or(*gold_words));
    const std::vector<TextNumber> gold = find_numbers(gold_region);
    if (gold.size() != 1 || !is_only(gold_region, gold[0])) return judged(Verdict::gold_unusable, "");

    auto region = last_answer_tag(response);
    if (!region) region = last_box(response);
    if (!region) region = after_mark(response);
    const std::vector<TextNumber> found = find_numbers(region.value_or(response));
    if (found.empty()) return judged(Verdict::no_answer, "");
    if (region && found.size() > 1) return judged(Verdict::wrong, std::string(trimmed(*region)));
    const TextNumber& answer = found.back();
    return judged(agrees(answer, gold[0]) ? Verdict::correct : Verdict::wrong, std::string(answer.text));
  }

 private:
  bool agrees(const TextNumber& answer, const TextNumber& gold) const {
    if (equal_exactly(answer, gold)) return true;
    const double target = approximate(gold), allowed = std::max(tolerance_, relative_ * std::abs(target));
    return allowed > 0 && std::isfinite(target) && std::abs(approximate(answer) - target) <= allowed;
  }
  double tolerance_, relative_;
};

}  // namespace

std::shared_ptr<const Verifier> make_number_verifier(KeyReader& keys, const VerifierSettings&) {
  const double tolerance = keys.number("tolerance", 0, 0, 1e300, "largest difference that counts as equal");
  const double relative = keys.number("relative_tolerance", 0, 0, 1, "the same as a share of the gold number");
  return std::make_shared<NumberVerifier>(tolerance, relative);
}

}  // namespace maxplus
