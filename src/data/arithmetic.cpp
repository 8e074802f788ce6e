// Drawing chains; see the header.
#include "data/arithmetic.hpp"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include <fmt/format.h>

#include "data/counter_task.hpp"

namespace maxplus {

namespace {

struct ChainStep {
  char op = '+';
  std::int64_t number = 0;
};

std::int64_t after_step(std::int64_t value, const ChainStep& step) {
  if (step.op == '+') return value + step.number;
  return step.op == '-' ? value - step.number : value * step.number;
}

std::string worked_chain(std::int64_t value, const std::vector<ChainStep>& steps, Draws& draws, double slip) {
  std::string text;
  for (const ChainStep& step : steps) {
    std::int64_t result = after_step(value, step);
    if (draws.unit() < slip) result += draws.below(2) == 0 ? draws.between(1, 9) : -draws.between(1, 9);
    text += fmt::format("{}{}{}={}; ", value, step.op, step.number, result);
    value = result;
  }
  return text + in_answer_tag(fmt::format("{}", value));
}

class ArithmeticProblems final : public CounterProblems {
 public:
  ArithmeticProblems(Range steps, std::int64_t max_number, std::int64_t max_value)
      : steps_(steps), max_number_(max_number), max_value_(max_value) {}
  std::string_view name() const override { return "arithmetic"; }
  std::string settings() const override {
    return fmt::format("{} {} {} {}", steps_.low, steps_.high, max_number_, max_value_);
  }
  CounterProblem draw(Draws& draws) const override {
    const std::int64_t first = draws.between(1, max_number_), count = draws.between(steps_.low, steps_.high);
    std::string text = fmt::format("{}", first);
    std::int64_t value = first;
    std::vector<ChainStep> steps;
    for (std::int64_t i = 0; i < count; ++i) {
      ChainStep step = {"+-*"[draws.below(3)], draws.between(1, max_number_)};
      if (std::abs(after_step(value, step)) > max_value_) step.op = value > 0 ? '-' : '+';  // towards 0
      value = after_step(value, step);
      text = fmt::format("{}{}{}", i == 0 ? text : "(" + text + ")", step.op, step.number);
      steps.push_back(step);
    }
    CounterProblem problem;
    problem.prompt = text + "=";
    problem.identity = text;
    problem.difficulty = count;
    problem.answer = value;
    problem.worked = [first, steps = std::move(steps)](Draws& d, double slip) {
      return worked_chain(first, steps, d, slip);
    };
    return problem;
  }

 private:
  Range steps_;
  std::int64_t max_number_, max_value_;
};

}  // namespace

std::shared_ptr<const Task> make_arithmetic_task(KeyReader& keys, std::shared_ptr<const Tokenizer> tokenizer) {
  const Range steps = read_range(keys, "steps", {2, 4}, {1, 20}, "steps of a chain");
  const std::int64_t max_number = keys.integer("max_number", 9, 2, 9999, "the numbers are 1 to this");
  const std::int64_t max_value =
      keys.integer("max_value", 999, 2, 1'000'000'000, "values on the way lie within plus and minus this");
  if (max_value < max_number) {
    keys.add_fault("max_value", fmt::format("max_value = {} is below max_number = {}", max_value, max_number),
                   "a value on the way may be any number", fmt::format("max_value = {}", max_number));
  }
  return make_counter_task(keys, std::move(tokenizer),
                           std::make_shared<ArithmeticProblems>(steps, max_number, max_value));
}

}  // namespace maxplus
