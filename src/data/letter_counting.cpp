// Drawing words; see the header.
#include "data/letter_counting.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "data/counter_task.hpp"

namespace maxplus {

namespace {

// Every letter with the count so far: "a1 b1 c1 a2 b2".
std::string worked_count(const std::string& word, char letter, Draws& draws, double slip) {
  std::string text;
  std::int64_t count = 0;
  for (const char c : word) {
    const bool slips = draws.unit() < slip;  // counts what it should not, or does not what it should
    if ((c == letter) != slips) ++count;
    text += fmt::format("{}{} ", c, count);
  }
  return text + in_answer_tag(fmt::format("{}", count));
}

class LetterProblems final : public CounterProblems {
 public:
  LetterProblems(Range length, std::int64_t letters) : length_(length), letters_(letters) {}
  std::string_view name() const override { return "letter_counting"; }
  std::string settings() const override { return fmt::format("{} {} {}", length_.low, length_.high, letters_); }
  CounterProblem draw(Draws& draws) const override {
    const auto any_letter = [&] { return static_cast<char>('a' + draws.between(0, letters_ - 1)); };
    std::string word(static_cast<std::size_t>(draws.between(length_.low, length_.high)), ' ');
    for (char& c : word) c = any_letter();
    const char letter = any_letter();
    CounterProblem problem;
    problem.prompt = fmt::format("count {} in {}:", letter, word);
    problem.identity = word;
    problem.difficulty = static_cast<std::int64_t>(word.size());
    problem.answer = static_cast<std::int64_t>(std::count(word.begin(), word.end(), letter));
    problem.worked = [word, letter](Draws& d, double slip) { return worked_count(word, letter, d, slip); };
    return problem;
  }

 private:
  Range length_;
  std::int64_t letters_;
};

}  // namespace

std::shared_ptr<const Task> make_letter_counting_task(KeyReader& keys, std::shared_ptr<const Tokenizer> tokenizer) {
  const Range length = read_range(keys, "length", {4, 10}, {1, 64}, "letters of a word");
  const std::int64_t letters = keys.integer("letters", 5, 2, 26, "words are of the first so many letters");
  return make_counter_task(keys, std::move(tokenizer), std::make_shared<LetterProblems>(length, letters));
}

}  // namespace maxplus
