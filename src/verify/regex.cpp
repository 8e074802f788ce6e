// The verifier `regex`: what a pattern finds in the response.
#include <stdexcept>

#include <fmt/format.h>

#include "text/utf8.hpp"
#include "verify/all_verifiers.hpp"
#include "verify/extraction.hpp"
#include "verify/pattern.hpp"

namespace maxplus {

const char* const kRegexGrammar =
    "A Perl-compatible regular expression (PCRE2, UTF-8) is searched in the response. It comes from the key `pattern`; "
    "without\n"
    "that key the problem's own key \"pattern\" is taken, and without that its answer is the pattern.\n"
    "A pattern with a group: the group of the last match, without white space at its ends, is the answer taken; it is "
    "correct if\n"
    "it equals the gold answer byte for byte (where the answer is itself the pattern: if there is a match). A pattern "
    "without a\n"
    "group: correct if there is a match, whatever the answer. No match, or an empty group: no_answer; without a group: "
    "wrong.\n"
    "A search that exceeds its limits (2,000,000 steps, depth 20,000, 20 MB, 1,000 matches) is timed_out.";

namespace {

class RegexVerifier final : public Verifier {
 public:
  explicit RegexVerifier(std::shared_ptr<const Pattern> pattern) : pattern_(std::move(pattern)) {}

  Assessment assess(const Problem& problem, const Rollout&, std::string_view response) const override {
    if (pattern_ != nullptr)
      return search(*pattern_, pattern_->has_group() ? Compare::gold : Compare::nothing, problem, response);
    const Json* own = find_given(problem, "pattern");
    const auto text = gold_text(own != nullptr ? *own : problem.answer);
    if (!text) return judged(Verdict::gold_unusable, "");
    try {
      const Pattern pattern(*text);
      return search(pattern, own != nullptr && pattern.has_group() ? Compare::gold : Compare::nothing, problem,
                    response);
    } catch (const std::invalid_argument&) {
      return judged(Verdict::gold_unusable, "");
    }
  }
  bool needs_answer() const override { return pattern_ == nullptr || pattern_->has_group(); }

 private:
  enum class Compare { gold, nothing };

  static Assessment search(const Pattern& pattern, Compare compare, const Problem& problem, std::string_view response) {
    const auto gold = gold_text(problem.answer);
    if (compare == Compare::gold && !gold) return judged(Verdict::gold_unusable, "");
    const Pattern::Match match = pattern.last_match(response);
    if (match.outcome == Pattern::Outcome::limit_hit) return judged(Verdict::timed_out, "");
    if (compare == Compare::nothing) {
      return judged(match.outcome == Pattern::Outcome::found ? Verdict::correct : Verdict::wrong,
                    std::string(match.text));
    }
    const std::string_view answer = trimmed(match.group);
    if (answer.empty()) return judged(Verdict::no_answer, "");
    return judged(answer == *gold ? Verdict::correct : Verdict::wrong, std::string(answer));
  }

  std::shared_ptr<const Pattern> pattern_;  // null: the problem brings its own
};

}  // namespace

std::shared_ptr<const Verifier> make_regex_verifier(KeyReader& keys, const VerifierSettings&) {
  const std::string text = keys.text("pattern", "", "the regular expression; empty: the problem's own");
  std::shared_ptr<const Pattern> pattern;
  if (!text.empty()) {
    try {
      pattern = std::make_shared<Pattern>(text);
    } catch (const std::invalid_argument& error) {
      keys.add_fault("pattern", fmt::format("pattern = {} does not compile: {}", in_quotes(text), error.what()),
                     "a Perl-compatible regular expression",
                     "write it in single quotes, so that TOML leaves backslashes alone");
      return nullptr;
    }
  }
  return std::make_shared<RegexVerifier>(std::move(pattern));
}

}  // namespace maxplus
