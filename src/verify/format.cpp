// The verifier `format`: whether the whole response has the wanted form.
#include <stdexcept>

#include <fmt/format.h>

#include "text/utf8.hpp"
#include "verify/all_verifiers.hpp"
#include "verify/pattern.hpp"

namespace maxplus {

const char* const kFormatGrammar =
    "Reward 1 if the whole response matches the regular expression `pattern` (PCRE2, UTF-8; write (?s) where a dot "
    "shall match a\n"
    "line feed), else 0. The answer is not looked at: beside another part, that part's verdict stands. A match that "
    "exceeds its\n"
    "limits (2,000,000 steps, depth 20,000, 20 MB) is timed_out with reward 0.";

namespace {

// <think>…</think><answer>…</answer>, each tag once, the answer not empty.
constexpr const char* kReasonThenAnswer =
    R"((?s)\s*<think>(?:(?!</?(?:think|answer)>).)*+</think>\s*<answer>(?:(?!</?(?:think|answer)>).)++</answer>\s*)";

class FormatVerifier final : public Verifier {
 public:
  explicit FormatVerifier(const std::string& pattern) : pattern_(pattern) {}
  Assessment assess(const Problem&, const Rollout&, std::string_view response) const override {
    switch (pattern_.matches_whole(response)) {
      case Pattern::Outcome::found: return judged(Verdict::correct, "");
      case Pattern::Outcome::none: return judged(Verdict::wrong, "");
      case Pattern::Outcome::limit_hit: break;
    }
    return judged(Verdict::timed_out, "");
  }
  bool judges() const override { return false; }

 private:
  Pattern pattern_;
};

}  // namespace

std::shared_ptr<const Verifier> make_format_verifier(KeyReader& keys, const VerifierSettings&) {
  const std::string text = keys.text("pattern", kReasonThenAnswer, "what the whole response must match");
  try {
    return std::make_shared<FormatVerifier>(text);
  } catch (const std::invalid_argument& error) {
    keys.add_fault("pattern", fmt::format("pattern = {} does not compile: {}", in_quotes(text), error.what()),
                   "a Perl-compatible regular expression",
                   "write it in single quotes, so that TOML leaves backslashes alone");
    return nullptr;
  }
}

}  // namespace maxplus
