// From text to verdict; the one place where Unreadable is caught.
#include "verify/math/answer.hpp"

#include <algorithm>

#include "text/utf8.hpp"
#include "verify/characters.hpp"
#include "verify/final_answer.hpp"
#include "verify/math/spelling.hpp"

namespace maxplus::math {

namespace {

// Nothing but words, one of them of three letters in a row, and none of them the name of a function.
bool is_only_words(std::string_view text) {
  const auto in_word = [](char c) { return is_letter(c) || static_cast<unsigned char>(c) >= 0x80; };
  const bool plain =
      std::all_of(text.begin(), text.end(), [&](char c) { return in_word(c) || c == ' ' || c == '-' || c == '\''; });
  if (!plain || first_invalid_utf8(text)) return false;
  bool word = text == "No";
  int run = 0;
  for (const char c : text) {
    run = in_word(c) ? run + 1 : 0;
    word = word || run >= 3;
  }
  for (const std::string_view part : split_words(text)) {
    if (is_function(part) || part == "pi" || part == "sqrt") return false;
  }
  return word && with_latex_signs(text) == text;
}

Value read(std::string_view text, ScalarField& field) {
  if (text.empty() || text.size() > kMaxAnswerBytes) throw Unreadable();
  Evaluation evaluation(field);
  if (is_only_words(text)) {
    Node words;
    words.kind = Node::Kind::words;
    words.text = text;
    return evaluation.answer(words);
  }
  return evaluation.answer(tree_of(tokens_of(with_latex_signs(text))));
}

// Several words outside \text{} are no mathematics, but for "all real numbers".
bool is_prose(std::string_view text, const Value& value) {
  return value.kind == Value::Kind::words && is_only_words(text) && split_words(text).size() > 1;
}

}  // namespace

Judge::Judge(std::string_view gold, const Tolerance& tolerance)
    : gold_(without_wrapping(gold.substr(0, kMaxAnswerBytes + 1))), tolerance_(tolerance) {
  try {
    Work work(kMaxSteps);
    ScalarField field(work);
    understood_ = !is_prose(gold_, read(gold_, field));
  } catch (const Unreadable&) {
    understood_ = false;
  }
}

bool Judge::accepts(std::string_view answer) const {
  const std::string_view plain = without_wrapping(answer.substr(0, kMaxAnswerBytes + 1));
  if (plain == gold_) return true;
  try {
    Work work(2 * kMaxSteps);  // the gold answer is read again
    ScalarField field(work);
    const Value gold = read(gold_, field), other = read(plain, field);
    return Comparison(field, work, tolerance_).same(gold, other);
  } catch (const Unreadable&) {
    return false;
  }
}

}  // namespace maxplus::math
