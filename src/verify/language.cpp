// The verifier `language`: the share of a response that is written in the wanted language, told by its script.
#include <algorithm>

#include <fmt/format.h>

#include "text/utf8.hpp"
#include "verify/all_verifiers.hpp"
#include "verify/letters.hpp"

namespace maxplus {

const char* const kLanguageGrammar =
    "Reward = letters in a script of the wanted language / all letters, each code point counting one. Left out are "
    "code between ```\n"
    "or ` marks, formulas ($…$, $$…$$, \\(…\\), \\[…\\]), LaTeX commands with what stands in their braces, tags <…>, "
    "addresses "
    "with ://,\n"
    "and everything that is no letter (digits, punctuation, emoji). The verdict is correct where the reward is 1, else "
    "wrong, and\n"
    "no_answer with reward 0 where no letters are left; beside another part, that part's verdict stands.\n"
    "Scripts: zh Han; ja Han, Hiragana, Katakana; ko Hangul (Han counts as foreign); ru uk bg sr Cyrillic; el Greek; "
    "ar fa "
    "ur Arabic;\n"
    "he Hebrew; hi mr ne Devanagari; bn Bengali; ta Tamil; te Telugu; th Thai; ka Georgian; hy Armenian; en de fr es "
    "it pt nl pl tr "
    "vi id\n"
    "Latin.\n"
    "A script tells no two languages apart that share it: English and French both are Latin, Russian and Ukrainian "
    "both "
    "Cyrillic, and\n"
    "Japanese written in Han alone passes for zh. What it measures is mixing of scripts, as English words in a Chinese "
    "answer.";

namespace {

struct Language {
  std::string_view name;
  std::vector<Script> scripts;
};

const std::vector<Language>& languages() {
  static const std::vector<Language> list = [] {
    std::vector<Language> all = {{"zh", {Script::han}},     {"ja", {Script::han, Script::kana}},
                                 {"ko", {Script::hangul}},  {"el", {Script::greek}},
                                 {"he", {Script::hebrew}},  {"bn", {Script::bengali}},
                                 {"ta", {Script::tamil}},   {"te", {Script::telugu}},
                                 {"th", {Script::thai}},    {"ka", {Script::georgian}},
                                 {"hy", {Script::armenian}}};
    for (const std::string_view name : {"ru", "uk", "bg", "sr"}) all.push_back({name, {Script::cyrillic}});
    for (const std::string_view name : {"ar", "fa", "ur"}) all.push_back({name, {Script::arabic}});
    for (const std::string_view name : {"hi", "mr", "ne"}) all.push_back({name, {Script::devanagari}});
    for (const std::string_view name : {"en", "de", "fr", "es", "it", "pt", "nl", "pl", "tr", "vi", "id"})
      all.push_back({name, {Script::latin}});
    return all;
  }();
  return list;
}

class LanguageVerifier final : public Verifier {
 public:
  explicit LanguageVerifier(std::vector<Script> scripts) : scripts_(std::move(scripts)) {}

  Assessment assess(const Problem&, const Rollout&, std::string_view response) const override {
    const LetterCounts counts = count_letters(prose_of(response));
    std::int64_t all = 0, wanted = 0;
    for (int s = 0; s < kScripts; ++s) {
      const std::int64_t n = counts[static_cast<std::size_t>(s)];
      all += n;
      if (std::find(scripts_.begin(), scripts_.end(), static_cast<Script>(s)) != scripts_.end()) wanted += n;
    }
    if (all == 0) return judged(Verdict::no_answer, "");
    Assessment assessment =
        judged(wanted == all ? Verdict::correct : Verdict::wrong, fmt::format("{}/{}", wanted, all));
    assessment.reward = static_cast<float>(static_cast<double>(wanted) / static_cast<double>(all));
    return assessment;
  }
  bool judges() const override { return false; }

 private:
  std::vector<Script> scripts_;
};

}  // namespace

std::shared_ptr<const Verifier> make_language_verifier(KeyReader& keys, const VerifierSettings&) {
  std::vector<std::string_view> names;
  for (const Language& language : languages()) names.push_back(language.name);
  const std::string name = keys.choice("language", "en", names, "the wanted language");
  for (const Language& language : languages()) {
    if (language.name == name) return std::make_shared<LanguageVerifier>(language.scripts);
  }
  return nullptr;  // the reader has the fault
}

}  // namespace maxplus
