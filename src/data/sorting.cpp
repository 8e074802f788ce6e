// Drawing lists of numbers; see the header.
#include "data/sorting.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "data/counter_task.hpp"

namespace maxplus {

namespace {

using Numbers = std::vector<std::int64_t>;

std::string listed(const Numbers& numbers) { return fmt::format("{}", fmt::join(numbers, " ")); }

std::string worked_insertion(const Numbers& numbers, Draws& draws, double slip) {
  Numbers sorted;
  std::string text;
  for (const std::int64_t number : numbers) {
    auto place = std::upper_bound(sorted.begin(), sorted.end(), number);
    if (draws.unit() < slip) place = sorted.begin() + static_cast<std::ptrdiff_t>(draws.below(sorted.size() + 1));
    sorted.insert(place, number);
    text += listed(sorted) + "; ";
  }
  return text + in_answer_tag(listed(sorted));
}

class SortingProblems final : public CounterProblems {
 public:
  SortingProblems(Range length, std::int64_t max_number) : length_(length), max_number_(max_number) {}
  std::string_view name() const override { return "sorting"; }
  std::string settings() const override { return fmt::format("{} {} {}", length_.low, length_.high, max_number_); }
  CounterProblem draw(Draws& draws) const override {
    Numbers numbers(static_cast<std::size_t>(draws.between(length_.low, length_.high)));
    for (std::int64_t& number : numbers) number = draws.between(0, max_number_);
    Numbers sorted = numbers;
    std::sort(sorted.begin(), sorted.end());
    CounterProblem problem;
    problem.prompt = fmt::format("sort {}:", listed(numbers));
    problem.identity = listed(sorted);
    problem.difficulty = static_cast<std::int64_t>(numbers.size());
    problem.answer = sorted;
    problem.worked = [numbers](Draws& d, double slip) { return worked_insertion(numbers, d, slip); };
    return problem;
  }

 private:
  Range length_;
  std::int64_t max_number_;
};

}  // namespace

std::shared_ptr<const Task> make_sorting_task(KeyReader& keys, std::shared_ptr<const Tokenizer> tokenizer) {
  const Range length = read_range(keys, "length", {3, 6}, {2, 30}, "numbers of a list");
  const std::int64_t max_number = keys.integer("max_number", 99, 1, 9999, "the numbers are 0 to this");
  return make_counter_task(keys, std::move(tokenizer), std::make_shared<SortingProblems>(length, max_number));
}

}  // namespace maxplus
