// The verifier `choice`: the letter of an option.
#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "text/utf8.hpp"
#include "verify/all_verifiers.hpp"
#include "verify/characters.hpp"
#include "verify/extraction.hpp"
#include "verify/final_answer.hpp"

namespace maxplus {

const char* const kChoiceGrammar =
    "The options are the problem's key \"choices\" (or \"options\"): a list of texts, or an object letter: text; "
    "without "
    "it, the first\n"
    "`count` letters. The gold answer is a letter, the text of one option, or a whole number: the index of the option, "
    "counted from\n"
    "first_index. Anything else is gold_unusable.\n"
    "The answer taken is the inside of the last complete \\boxed{…} or \\fbox{…}; without one, of the last complete\n"
    "<answer>…</answer>; without one, what follows the last \"answer is\" or \"answer:\", up to the end of its "
    "sentence or "
    "line;\n"
    "without that, the last capital letter of an option that stands alone in parentheses (B), between asterisks **B**, "
    "or on a line\n"
    "of its own: B, B. or B) and then any text. With require_box = \"yes\" only a box counts.\n"
    "There, \\text{} and the like, $, asterisks, parentheses and a full stop are taken off; \"option\" and \"choice\" "
    "before the letter\n"
    "too. A letter may be followed by . : ) or a dash and the text of the option. Correct: the gold letter alone, or "
    "with the text of\n"
    "its option, or that text alone (apart from case and blanks) where no other option has it. Several letters, a "
    "letter "
    "with the text\n"
    "of another option, and a letter that no option has are wrong. Small letters are letters only with letter_case = "
    "\"ignore\".\n"
    "Limits: 1,000 bytes an answer, 26 options; the last 10,000 bytes are searched for a letter that stands alone.";

namespace {

constexpr std::size_t kMaxAnswer = 1'000, kMaxOptions = 26;

// Lower case, single blanks, without a full stop at the end.
std::string plain_text(std::string_view text) {
  std::string plain;
  for (const std::string_view word : split_words(text)) {
    if (!plain.empty()) plain += ' ';
    for (const char c : word) plain += lower_case(c);
  }
  while (plain.ends_with('.')) plain.pop_back();
  return plain;
}

struct Options {
  std::vector<std::string> text;  // empty texts where only the number of options is known
  bool has(char letter) const { return letter >= 'A' && static_cast<std::size_t>(letter - 'A') < text.size(); }
};

std::optional<Options> options_of(const Problem& problem, std::int64_t count) {
  const Json* given = find_given(problem, "choices");
  if (given == nullptr) given = find_given(problem, "options");
  Options options;
  options.text.resize(static_cast<std::size_t>(count));
  if (given == nullptr) return options;
  options.text.clear();
  if (!(given->is_array() || given->is_object()) || given->empty() || given->size() > kMaxOptions) return std::nullopt;
  for (const auto& [key, value] : given->items()) {
    const char letter = static_cast<char>('A' + options.text.size());
    if (given->is_object() && (key.size() != 1 || upper_case(key[0]) != letter)) return std::nullopt;
    options.text.push_back(value.is_string() ? plain_text(value.get_ref<const std::string&>()) : value.dump());
  }
  return options;
}

// The letter of the one option that has this text.
std::optional<char> letter_of_text(const Options& options, std::string_view text) {
  const std::string plain = plain_text(text);
  if (plain.empty() || std::count(options.text.begin(), options.text.end(), plain) != 1) return std::nullopt;
  return static_cast<char>('A' + (std::find(options.text.begin(), options.text.end(), plain) - options.text.begin()));
}

// \text{B} -> B, (B) -> B, "option B" -> B, …
std::string_view unwrapped(std::string_view text) {
  for (std::size_t size = text.size() + 1; size != text.size();) {
    size = text.size();
    text = without_wrapping(text);
    for (const std::string_view command : {"\\text{", "\\textbf{", "\\mathrm{", "\\mathbf{", "\\textrm{", "{"}) {
      if (text.starts_with(command) && text.ends_with('}') && text.find('}') + 1 == text.size())
        text = text.substr(command.size(), text.size() - command.size() - 1);
    }
    if (text.size() > 2 && text.front() == '(' && text.find(')') + 1 == text.size())
      text = text.substr(1, text.size() - 2);
    for (const std::string_view word : {"option ", "Option ", "choice ", "Choice "}) {
      if (text.starts_with(word)) text.remove_prefix(word.size());
    }
  }
  return text;
}

// The last letter alone: (B), **B**, or at the beginning of a line with nothing, "." or ")" behind it.
std::string_view last_letter(std::string_view response, const Options& options) {
  if (response.size() > kSearchedBytes) response.remove_prefix(response.size() - kSearchedBytes);
  for (std::size_t i = response.size(); i-- > 0;) {
    if (!options.has(response[i])) continue;
    const std::string_view before = response.substr(0, i), after = response.substr(i + 1);
    const bool line = before.empty() || before.ends_with('\n');
    const bool ends = after.empty() || after.starts_with('\n') || after.starts_with(". ") || after.starts_with(".\n") ||
                      after == "." || after.starts_with(')');
    if ((before.ends_with('(') && after.starts_with(')')) || (before.ends_with("**") && after.starts_with("**")) ||
        (line && ends))
      return response.substr(i, 1);
  }
  return {};
}

class ChoiceVerifier final : public Verifier {
 public:
  struct Rules {
    std::int64_t first_index = 0, count = 26;
    AnswerPlaces places = AnswerPlaces::all;
    bool any_case = false;
  };
  explicit ChoiceVerifier(const Rules& rules) : rules_(rules) {}

  Assessment assess(const Problem& problem, const Rollout&, std::string_view response) const override {
    const auto options = options_of(problem, rules_.count);
    const auto gold = options ? gold_letter(problem.answer, *options) : std::nullopt;
    if (!gold) return judged(Verdict::gold_unusable, "");
    std::string_view region = marked_answer(response).value_or(std::string_view());
    if (region.empty() && rules_.places == AnswerPlaces::all) region = last_letter(response, *options);
    if (region.empty()) return judged(Verdict::no_answer, "");
    if (region.size() > kMaxAnswer) return judged(Verdict::wrong, std::string(region.substr(0, kMaxAnswer)));
    const auto letter = letter_in(region, *options);
    return judged(letter == gold ? Verdict::correct : Verdict::wrong, std::string(region));
  }

 private:
  std::optional<std::string_view> marked_answer(std::string_view response) const {
    const auto marked = final_answer(response, AnswerPlaces::box_only);
    if (marked || rules_.places == AnswerPlaces::box_only) return marked;
    if (const auto tag = last_answer_tag(response)) return trimmed(*tag);
    return phrase_answer(response);
  }

  std::optional<char> gold_letter(const Json& answer, const Options& options) const {
    if (answer.is_number_integer()) {
      const std::int64_t index = answer.get<std::int64_t>() - rules_.first_index;
      if (index < 0 || index >= static_cast<std::int64_t>(options.text.size())) return std::nullopt;
      return static_cast<char>('A' + index);
    }
    const auto text = answer.is_string() ? gold_text(answer) : std::nullopt;
    if (!text) return std::nullopt;
    const std::string_view letter = unwrapped(*text);
    if (letter.size() == 1 && options.has(upper_case(letter[0]))) return upper_case(letter[0]);
    return letter_of_text(options, *text);
  }

  std::optional<char> letter_in(std::string_view region, const Options& options) const {
    const std::string_view text = unwrapped(region);
    if (text.empty()) return std::nullopt;
    if (const auto letter = letter_of_text(options, text)) return letter;
    // A letter, then nothing or a sign and the text of the same option.
    std::string_view rest = text;
    if (rest.front() == '(') rest.remove_prefix(1);
    if (rest.empty()) return std::nullopt;
    const char letter = rules_.any_case ? upper_case(rest[0]) : rest[0];
    if (!options.has(letter)) return std::nullopt;
    rest.remove_prefix(1);
    if (rest.empty()) return letter;
    if (is_letter(rest[0]) || std::string_view(".:)-} \t").find(rest[0]) == std::string_view::npos) return std::nullopt;
    while (!rest.empty() && std::string_view(".:)-} \t").find(rest[0]) != std::string_view::npos) rest.remove_prefix(1);
    if (rest.empty() || letter_of_text(options, rest) == letter) return letter;
    return std::nullopt;
  }

  Rules rules_;
};

}  // namespace

std::shared_ptr<const Verifier> make_choice_verifier(KeyReader& keys, const VerifierSettings&) {
  ChoiceVerifier::Rules rules;
  rules.first_index =
      keys.integer("first_index", 0, 0, 1, "the index of the first option, where the gold answer is one");
  rules.count = keys.integer("count", 26, 2, static_cast<std::int64_t>(kMaxOptions),
                             "number of options, where a problem does not list them");
  if (keys.choice("require_box", "no", {"no", "yes"}, "whether only a box holds an answer") == "yes")
    rules.places = AnswerPlaces::box_only;
  rules.any_case = keys.choice("letter_case", "exact", {"exact", "ignore"}, "whether b is B") == "ignore";
  return std::make_shared<ChoiceVerifier>(rules);
}

}  // namespace maxplus
