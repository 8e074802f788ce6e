// Problems, split and demonstrations of the task `countdown`; see the header.
#include "data/countdown.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <xxhash.h>
#include <nlohmann/json.hpp>

#include "base/fingerprint.hpp"
#include "data/counter_keys.hpp"
#include "data/draws.hpp"

namespace maxplus {

namespace {

constexpr std::string_view kAlphabet = "0123456789 +-*/()=:<>answeryo";
constexpr std::uint64_t kMaxAttempts = 20000;
constexpr std::uint64_t kDrawsPerAttempt = 64;
constexpr std::uint64_t kHeldOutClasses = 8;  // one class of eight is held out

struct CountdownKeys : CounterKeys {
  int numbers = 0, max_number = 0, max_target = 0;
  double patient = 0, first_hit = 0, give_up = 0;
  int max_tries = 0;
  float verdict_weight = 0;
};

CountdownKeys read_countdown_keys(KeyReader& keys) {
  CountdownKeys k;
  k.numbers = static_cast<int>(keys.integer("numbers", 3, 2, 6, "how many numbers a problem gives"));
  k.max_number = static_cast<int>(keys.integer("max_number", 20, 1, 999, "the numbers are 1 to this"));
  k.max_target = static_cast<int>(keys.integer("max_target", 100, 2, 9999, "the targets are 1 to this"));
  static_cast<CounterKeys&>(k) = read_counter_keys(keys);
  k.patient = keys.number("patient", 0.35, 0, 1, "share of demonstrators that go on after a miss");
  k.first_hit = keys.number("first_hit", 0.2, 0, 1, "probability that a try is the solution on purpose");
  k.give_up = keys.number("give_up", 0.12, 0, 1, "probability that a patient one gives up after a miss");
  k.max_tries = static_cast<int>(keys.integer("max_tries", 6, 1, 30, "the last try of a patient one is the solution"));
  k.verdict_weight =
      static_cast<float>(keys.number("verdict_weight", 2, 0, 1000, "weight of the words yes and no in the loss"));
  return k;
}

struct Expression {
  std::string text;
  int strength = 2;  // 0: sum, 1: product, 2: number
  std::int64_t value = 0;
};

std::string wrapped(const Expression& e, bool wrap) { return wrap ? "(" + e.text + ")" : e.text; }

std::optional<Expression> combined(const Expression& a, char op, const Expression& b) {
  Expression e;
  e.strength = op == '+' || op == '-' ? 0 : 1;
  if (op == '-' && a.value <= b.value) return std::nullopt;
  if (op == '/' && a.value % b.value != 0) return std::nullopt;
  e.value = op == '+'   ? a.value + b.value
            : op == '-' ? a.value - b.value
            : op == '*' ? a.value * b.value
                        : a.value / b.value;
  if (e.value > 1'000'000) return std::nullopt;
  const bool strict = op == '-' || op == '/';
  e.text = wrapped(a, a.strength < e.strength) + op +
           wrapped(b, b.strength < e.strength || (strict && b.strength == e.strength));
  return e;
}

// All numbers, two at a time by a drawn operator; a drawn step that is not a positive whole number becomes a sum.
Expression drawn_expression(const std::vector<int>& numbers, Draws& draws) {
  std::vector<Expression> pool;
  for (const int n : numbers) pool.push_back({fmt::format("{}", n), 2, n});
  while (pool.size() > 1) {
    const std::size_t i = draws.below(pool.size());
    const Expression a = pool[i];
    pool.erase(pool.begin() + static_cast<std::ptrdiff_t>(i));
    const std::size_t j = draws.below(pool.size());
    const auto e = combined(a, "+-*/"[draws.below(4)], pool[j]);
    pool[j] = e ? *e : *combined(a, '+', pool[j]);
  }
  return pool[0];
}

struct CountdownProblem {
  std::vector<int> numbers;
  std::int64_t target = 0;
  std::string solution;
};

enum class Side : std::uint64_t { train = 0, held_out = 1 };

Side side_of(const CountdownProblem& problem) {
  std::vector<int> sorted = problem.numbers;
  std::sort(sorted.begin(), sorted.end());
  const std::string text = fmt::format("{} {}", fmt::join(sorted, " "), problem.target);
  return XXH3_64bits(text.data(), text.size()) % kHeldOutClasses == 0 ? Side::held_out : Side::train;
}

std::optional<CountdownProblem> find_problem(const CountdownKeys& keys, Side side, std::int64_t index) {
  const std::uint64_t item = (static_cast<std::uint64_t>(index) << 1) | static_cast<std::uint64_t>(side);
  for (std::uint64_t attempt = 0; attempt < kMaxAttempts; ++attempt) {
    Draws draws(keys.problem_seed, Purpose::task, item, attempt * kDrawsPerAttempt);
    CountdownProblem p;
    for (int i = 0; i < keys.numbers; ++i)
      p.numbers.push_back(1 + static_cast<int>(draws.below(static_cast<std::size_t>(keys.max_number))));
    const Expression e = drawn_expression(p.numbers, draws);
    p.target = e.value;
    p.solution = e.text;
    if (p.target >= 1 && p.target <= keys.max_target && side_of(p) == side) return p;
  }
  return std::nullopt;
}

CountdownProblem problem_at(const CountdownKeys& keys, Side side, std::int64_t index) {
  auto p = find_problem(keys, side, index);
  MAXPLUS_REQUIRE(p.has_value(), fmt::format("no countdown problem {} in {} attempts", index, kMaxAttempts));
  return *std::move(p);
}

std::string prompt_text_of(const CountdownProblem& p) {
  return fmt::format("{}={}:", fmt::join(p.numbers, " "), p.target);
}

std::string keys_hash(const CountdownKeys& k, std::string_view what) {
  const std::string text =
      fmt::format("countdown {} {} {} {} {} {} {} {} {} {} {} {} {} {}", what, k.numbers, k.max_number, k.max_target,
                  k.problems, k.held_out, k.problem_seed, k.demonstrations, k.demonstration_seed, k.patient,
                  k.first_hit, k.give_up, k.max_tries, k.verdict_weight);
  return fingerprint(text);
}

class CountdownProblems final : public ProblemSource {
 public:
  CountdownProblems(const CountdownKeys& keys, Side side, std::shared_ptr<const Tokenizer> tokenizer)
      : keys_(keys), side_(side), tokenizer_(std::move(tokenizer)) {}
  std::int64_t size() const override { return side_ == Side::train ? keys_.problems : keys_.held_out; }
  std::string where(std::int64_t index) const override {
    return fmt::format("task countdown{}, problem {}", suffix(), index);
  }
  std::string hash() const override { return keys_hash(keys_, side_ == Side::train ? "train" : "held out"); }
  Problem at(std::int64_t index) const override {
    MAXPLUS_REQUIRE(index >= 0 && index < size(), fmt::format("problem {} of {}", index, size()));
    const CountdownProblem p = problem_at(keys_, side_, index);
    Problem problem;
    problem.id = side_ == Side::train ? index : keys_.problems + index;
    problem.prompt_text = prompt_text_of(p);
    problem.prompt = tokenizer_->encode(problem.prompt_text, SpecialText::as_text);
    problem.answer = Json{{"numbers", p.numbers}, {"target", p.target}};
    return problem;
  }

 private:
  const char* suffix() const { return side_ == Side::train ? "" : ", held out"; }
  CountdownKeys keys_;
  Side side_;
  std::shared_ptr<const Tokenizer> tokenizer_;
};

class CountdownDemonstrations final : public DemonstrationSource {
 public:
  CountdownDemonstrations(const CountdownKeys& keys, std::shared_ptr<const Tokenizer> tokenizer)
      : keys_(keys), tokenizer_(std::move(tokenizer)) {}
  std::int64_t size() const override { return keys_.demonstrations; }
  std::string hash() const override { return keys_hash(keys_, "demonstrations"); }
  Demonstration at(std::int64_t number) const override {
    const auto item = static_cast<std::uint64_t>(number);
    Draws first(keys_.demonstration_seed, Purpose::demonstration, item, 0);
    const CountdownProblem p = problem_at(
        keys_, Side::train, static_cast<std::int64_t>(first.below(static_cast<std::size_t>(keys_.problems))));
    const bool patient = first.unit() < keys_.patient;
    Demonstration d;
    d.number = number;
    d.prompt = tokenizer_->encode(prompt_text_of(p), SpecialText::as_text);
    std::string answer;
    for (int attempt = 1; attempt <= keys_.max_tries; ++attempt) {
      Draws draws(keys_.demonstration_seed, Purpose::demonstration, item,
                  static_cast<std::uint64_t>(attempt) * kDrawsPerAttempt);
      const bool on_purpose = draws.unit() < keys_.first_hit || (patient && attempt == keys_.max_tries);
      const bool gives_up = draws.unit() < keys_.give_up;
      const Expression e = on_purpose ? Expression{p.solution, 0, p.target} : drawn_expression(p.numbers, draws);
      answer = e.text;
      append(fmt::format("{}={} ", e.text, e.value), 1.0F, d);
      append(e.value == p.target ? "yes" : "no", keys_.verdict_weight, d);
      append(" ", 1.0F, d);
      if (e.value == p.target || !patient || gives_up) break;
    }
    append(fmt::format("<answer>{}</answer>", answer), 1.0F, d);
    d.response.push_back(tokenizer_->end_token());
    d.weight.push_back(1.0F);
    return d;
  }

 private:
  void append(std::string_view text, float weight, Demonstration& d) const {
    const std::vector<std::int32_t> ids = tokenizer_->encode(text, SpecialText::as_text);
    d.response.insert(d.response.end(), ids.begin(), ids.end());
    d.weight.insert(d.weight.end(), ids.size(), weight);
  }
  CountdownKeys keys_;
  std::shared_ptr<const Tokenizer> tokenizer_;
};

class CountdownTask final : public Task {
 public:
  CountdownTask(const CountdownKeys& keys, std::shared_ptr<const Tokenizer> tokenizer)
      : keys_(keys), tokenizer_(std::move(tokenizer)) {}
  std::string_view name() const override { return "countdown"; }
  std::string_view verifier() const override { return "countdown"; }
  std::shared_ptr<const Tokenizer> tokenizer() const override { return tokenizer_; }
  std::shared_ptr<const ProblemSource> train() const override {
    return std::make_shared<CountdownProblems>(keys_, Side::train, tokenizer_);
  }
  std::shared_ptr<const ProblemSource> held_out() const override {
    return std::make_shared<CountdownProblems>(keys_, Side::held_out, tokenizer_);
  }
  std::shared_ptr<const DemonstrationSource> demonstrations() const override {
    return std::make_shared<CountdownDemonstrations>(keys_, tokenizer_);
  }

 private:
  CountdownKeys keys_;
  std::shared_ptr<const Tokenizer> tokenizer_;
};

}  // namespace

std::shared_ptr<const Task> make_countdown_task(KeyReader& keys, std::shared_ptr<const Tokenizer> tokenizer) {
  const CountdownKeys k = read_countdown_keys(keys);
  if (!keys.faults().empty()) return nullptr;
  if (tokenizer == nullptr) tokenizer = make_character_tokenizer(kAlphabet);
  try {
    (void)tokenizer->encode(kAlphabet, SpecialText::as_text);
  } catch (const Error&) {
    keys.add_fault("task", "[tokenizer] lacks a character of the task",
                   fmt::format("kind = \"characters\" with alphabet = \"{}\"", kAlphabet),
                   "leave [tokenizer] out: the task brings its own");
    return nullptr;
  }
  if (!find_problem(k, Side::train, 0) || !find_problem(k, Side::held_out, 0)) {
    keys.add_fault("task", "the keys leave no problem to train on or none held out", "at least one of each",
                   "a larger max_number or max_target");
    return nullptr;
  }
  return std::make_shared<CountdownTask>(k, std::move(tokenizer));
}

}  // namespace maxplus
