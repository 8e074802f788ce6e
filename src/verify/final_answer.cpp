// Searching a response for its final answer, from its end.
#include "verify/final_answer.hpp"

#include <algorithm>
#include <array>

#include "text/utf8.hpp"
#include "verify/characters.hpp"
#include "verify/decimal.hpp"
#include "verify/extraction.hpp"

namespace maxplus {

namespace {

constexpr std::size_t kPhraseBytes = 2'000;  // of an answer behind a phrase

// The end of the last occurrence of any phrase, whatever its case.
std::optional<std::size_t> behind_last_phrase(std::string_view text) {
  constexpr std::string_view kPhrases[] = {"answer is", "answers are", "answer:", "answer is:"};
  constexpr std::string_view kStem = "answer";
  for (std::size_t i = text.size(); i-- > 0;) {
    if (lower_case(text[i]) != 'a' || text.size() - i <= kStem.size()) continue;
    std::size_t end = 0;
    for (const std::string_view phrase : kPhrases) {
      const std::string_view here = text.substr(i, phrase.size());
      const bool same = std::equal(here.begin(), here.end(), phrase.begin(), phrase.end(),
                                   [](char a, char b) { return lower_case(a) == b; });
      if (same) end = std::max(end, i + phrase.size());
    }
    if (end > 0) return end;
  }
  return std::nullopt;
}

constexpr std::array<std::array<std::string_view, 2>, 4> kFormulas = {
    {{"$$", "$$"}, {"\\[", "\\]"}, {"\\(", "\\)"}, {"$", "$"}}};

// The inside of a formula that begins at the beginning of the text.
std::optional<std::string_view> leading_formula(std::string_view text) {
  for (const auto& [open, close] : kFormulas) {
    if (!text.starts_with(open)) continue;
    const std::size_t end = text.find(close, open.size());
    if (end != std::string_view::npos) return text.substr(open.size(), end - open.size());
  }
  return std::nullopt;
}

// The formula that the last bytes of a text belong to, behind its last sign of equality: … $x = 15$.
std::optional<std::string_view> formula_around(std::string_view text, std::size_t place) {
  for (const auto& [open, close] : kFormulas) {
    if (open == close && std::count(text.begin(), text.end(), '$') % 2 != 0) continue;
    const std::size_t end = text.find(close, place);
    if (end == std::string_view::npos) continue;
    const std::size_t begin = text.substr(0, place).rfind(open);
    if (begin == std::string_view::npos) continue;
    std::string_view inside = text.substr(begin + open.size(), end - begin - open.size());
    if (inside.find(open) != std::string_view::npos) continue;
    if (open != close && inside.find(close) != std::string_view::npos) continue;
    const std::size_t equals = inside.rfind('=');
    if (equals != std::string_view::npos && equals > 0 && inside[equals - 1] != '<' && inside[equals - 1] != '>')
      inside.remove_prefix(equals + 1);
    return trimmed(inside);
  }
  return std::nullopt;
}

// A number that an operator or a brace joins to what stands before it is no answer.
bool stands_alone(std::string_view text, std::size_t begin, std::size_t end) {
  std::size_t before = begin;
  while (before > 0 && (text[before - 1] == ' ' || text[before - 1] == '\t')) --before;
  if (before > 0) {
    const char c = text[before - 1];
    constexpr std::string_view kJoining = "^_{/+\\<>";
    if (kJoining.find(c) != std::string_view::npos) return false;
    if (c == '*' && before > 1 && text[before - 2] != '*') return before == 2 || text[before - 2] == '\n';
    if (c == '-' && before != begin) return false;
  }
  std::size_t after = end;
  while (after < text.size() && text[after] == ' ') ++after;
  constexpr std::string_view kGoingOn = "^_{/}\\+<>";
  if (after < text.size() && text.substr(after).starts_with("\\%")) return true;
  return after == text.size() || kGoingOn.find(text[after]) == std::string_view::npos;
}

std::optional<std::string_view> last_number(std::string_view response) {
  std::string_view text = response;
  if (text.size() > kSearchedBytes) {
    text.remove_prefix(text.size() - kSearchedBytes);
    while (!text.empty() && (is_digit(text[0]) || text[0] == '.' || text[0] == ',')) text.remove_prefix(1);
  }
  const std::vector<TextNumber> numbers = find_numbers(text);
  if (numbers.empty()) return std::nullopt;
  const std::string_view number = numbers.back().text;
  const auto begin = static_cast<std::size_t>(number.data() - text.data());
  std::size_t end = begin + number.size();
  if (const auto formula = formula_around(text, begin)) return formula;
  if (!stands_alone(text, begin, end)) return std::nullopt;
  std::size_t sign = end;
  while (sign < text.size() && text[sign] == ' ') ++sign;
  if (text.substr(sign).starts_with("%")) end = sign + 1;
  if (text.substr(sign).starts_with("\\%")) end = sign + 2;
  return text.substr(begin, end - begin);
}

}  // namespace

std::optional<std::string_view> phrase_answer(std::string_view response) {
  const auto begin = behind_last_phrase(response);
  if (!begin) return std::nullopt;
  std::string_view rest = response.substr(*begin, kPhraseBytes);
  while (!rest.empty() && (is_blank(rest[0]) || rest[0] == ':' || rest[0] == '*')) rest.remove_prefix(1);
  if (const auto formula = leading_formula(rest)) return trimmed(*formula);
  std::size_t end = 0;
  while (end < rest.size() && rest[end] != '\n') {
    const bool stop = rest[end] == '.' && (end + 1 == rest.size() || is_blank(rest[end + 1]));
    if (stop) break;
    ++end;
  }
  const std::string_view sentence = without_wrapping(rest.substr(0, end));
  return sentence.empty() ? std::nullopt : std::optional(sentence);
}

std::string_view without_wrapping(std::string_view text) {
  for (std::size_t size = text.size() + 1; size != text.size();) {
    size = text.size();
    text = trimmed(text);
    while (text.starts_with("**")) text.remove_prefix(2);
    while (text.ends_with("**")) text.remove_suffix(2);
    if ((text.ends_with(".") && !text.ends_with("..")) || text.ends_with(",") || text.ends_with(";"))
      text.remove_suffix(1);
    for (const auto& [open, close] : kFormulas) {
      if (text.size() < open.size() + close.size() || !text.starts_with(open) || !text.ends_with(close)) continue;
      const std::string_view inside = text.substr(open.size(), text.size() - open.size() - close.size());
      if (inside.find(close) != std::string_view::npos || inside.ends_with('\\')) continue;
      text = inside;
      break;
    }
  }
  return text;
}

std::optional<std::string_view> final_answer(std::string_view response, AnswerPlaces places) {
  if (const auto box = last_box(response)) return trimmed(*box);
  if (places == AnswerPlaces::box_only) return std::nullopt;
  if (const auto tag = last_answer_tag(response)) return trimmed(*tag);
  if (const auto phrase = phrase_answer(response)) return phrase;
  return last_number(response);
}

}  // namespace maxplus
