// The sides, the sources and the keys that counter tasks share; see the header.
#include "data/counter_task.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <xxhash.h>
#include <nlohmann/json.hpp>

#include "base/fingerprint.hpp"
#include "data/counter_keys.hpp"
#include "text/chat_template.hpp"

namespace maxplus {

namespace {

constexpr std::string_view kSharedAlphabet = "0123456789 +-*/()=:;,.?<>\nabcdefghijklmnopqrstuvwxyz";
constexpr std::uint64_t kMostAttempts = 20000;
constexpr std::uint64_t kDrawsOfOneAttempt = 1 << 16;  // more than any problem takes
constexpr std::uint64_t kClassesOfIdentity = 8;        // one class of eight is held out

struct SharedKeys : CounterKeys {
  double slip = 0;
  std::string instruction;
};

SharedKeys read_shared_keys(KeyReader& keys) {
  SharedKeys k;
  static_cast<CounterKeys&>(k) = read_counter_keys(keys);
  k.slip = keys.number("slip", 0.1, 0, 1, "probability that a step of a demonstration goes wrong");
  k.instruction = keys.text("instruction", "", "text before every problem, for models that know nothing of the task");
  return k;
}

enum class Half : std::uint64_t { train = 0, held_out = 1 };

// All that sources and demonstrations need.
struct CounterState {
  SharedKeys keys;
  std::shared_ptr<const CounterProblems> problems;
  std::shared_ptr<const Tokenizer> tokenizer;

  std::optional<CounterProblem> find(Half half, std::int64_t index) const {
    const std::uint64_t item = (static_cast<std::uint64_t>(index) << 1) | static_cast<std::uint64_t>(half);
    for (std::uint64_t attempt = 0; attempt < kMostAttempts; ++attempt) {
      Draws draws(keys.problem_seed, Purpose::task, item, attempt * kDrawsOfOneAttempt);
      CounterProblem problem = problems->draw(draws);
      const bool held = XXH3_64bits(problem.identity.data(), problem.identity.size()) % kClassesOfIdentity == 0;
      if (held == (half == Half::held_out)) return problem;
    }
    return std::nullopt;
  }
  CounterProblem at(Half half, std::int64_t index) const {
    auto problem = find(half, index);
    MAXPLUS_REQUIRE(problem.has_value(),
                    fmt::format("no problem {} of task {} in {} attempts", index, problems->name(), kMostAttempts));
    return *std::move(problem);
  }
  std::vector<std::int32_t> prompt(const CounterProblem& problem) const {
    return encode_prompt(*tokenizer, keys.instruction + problem.prompt);
  }
  std::string hash(std::string_view what) const {
    const std::string text = fmt::format("{} {} {} {} {} {} {} {} {} {}", problems->name(), what, problems->settings(),
                                         keys.problems, keys.held_out, keys.problem_seed, keys.demonstrations,
                                         keys.demonstration_seed, keys.slip, keys.instruction);
    return fingerprint(text);
  }
};

class CounterSource final : public ProblemSource {
 public:
  CounterSource(std::shared_ptr<const CounterState> state, Half half) : state_(std::move(state)), half_(half) {}
  std::int64_t size() const override { return half_ == Half::train ? state_->keys.problems : state_->keys.held_out; }
  std::string where(std::int64_t index) const override {
    return fmt::format("task {}{}, problem {}", state_->problems->name(), half_ == Half::train ? "" : ", held out",
                       index);
  }
  std::string hash() const override { return state_->hash(half_ == Half::train ? "train" : "held out"); }
  Problem at(std::int64_t index) const override {
    MAXPLUS_REQUIRE(index >= 0 && index < size(), fmt::format("problem {} of {}", index, size()));
    CounterProblem drawn = state_->at(half_, index);
    Problem problem;
    problem.id = half_ == Half::train ? index : state_->keys.problems + index;
    problem.prompt = state_->prompt(drawn);
    problem.prompt_text = state_->keys.instruction + drawn.prompt;
    problem.answer = std::move(drawn.answer);
    problem.extra["difficulty"] = drawn.difficulty;
    return problem;
  }

 private:
  std::shared_ptr<const CounterState> state_;
  Half half_;
};

class CounterDemonstrations final : public DemonstrationSource {
 public:
  explicit CounterDemonstrations(std::shared_ptr<const CounterState> state) : state_(std::move(state)) {}
  std::int64_t size() const override { return state_->keys.demonstrations; }
  std::string hash() const override { return state_->hash("demonstrations"); }
  Demonstration at(std::int64_t number) const override {
    Draws draws(state_->keys.demonstration_seed, Purpose::demonstration, static_cast<std::uint64_t>(number), 0);
    const CounterProblem problem = state_->at(Half::train, draws.between(0, state_->keys.problems - 1));
    Demonstration d;
    d.number = number;
    d.prompt = state_->prompt(problem);
    d.response = state_->tokenizer->encode(problem.worked(draws, state_->keys.slip), SpecialText::as_text);
    d.response.push_back(answer_end(*state_->tokenizer));
    d.weight.assign(d.response.size(), 1.0F);
    return d;
  }

 private:
  std::shared_ptr<const CounterState> state_;
};

class CounterTask final : public Task {
 public:
  explicit CounterTask(std::shared_ptr<const CounterState> state) : state_(std::move(state)) {}
  std::string_view name() const override { return state_->problems->name(); }
  std::string_view verifier() const override { return state_->problems->name(); }
  std::shared_ptr<const Tokenizer> tokenizer() const override { return state_->tokenizer; }
  std::shared_ptr<const ProblemSource> train() const override {
    return std::make_shared<CounterSource>(state_, Half::train);
  }
  std::shared_ptr<const ProblemSource> held_out() const override {
    return std::make_shared<CounterSource>(state_, Half::held_out);
  }
  std::shared_ptr<const DemonstrationSource> demonstrations() const override {
    return std::make_shared<CounterDemonstrations>(state_);
  }

 private:
  std::shared_ptr<const CounterState> state_;
};

}  // namespace

Range read_range(KeyReader& keys, const std::string& what, Range standard, Range allowed, const std::string& meaning) {
  const std::string low = "min_" + what, high = "max_" + what;
  Range range;
  range.low = keys.integer(low, standard.low, allowed.low, allowed.high, "fewest " + meaning);
  range.high = keys.integer(high, std::max(standard.high, range.low), allowed.low, allowed.high, "most " + meaning);
  if (range.low > range.high) {
    keys.add_fault(low, fmt::format("{} = {} is above {} = {}", low, range.low, high, range.high), "fewest before most",
                   fmt::format("{} = {}", low, range.high));
  }
  return range;
}

std::string in_answer_tag(std::string_view text) { return fmt::format("<answer>{}</answer>", text); }

std::shared_ptr<const Task> make_counter_task(KeyReader& keys, std::shared_ptr<const Tokenizer> tokenizer,
                                              std::shared_ptr<const CounterProblems> problems) {
  auto state = std::make_shared<CounterState>();
  state->keys = read_shared_keys(keys);
  if (!keys.faults().empty()) return nullptr;
  state->problems = std::move(problems);
  state->tokenizer = tokenizer != nullptr ? std::move(tokenizer) : make_character_tokenizer(kSharedAlphabet);
  try {
    (void)encode_prompt(*state->tokenizer, state->keys.instruction + std::string(kSharedAlphabet));
    (void)answer_end(*state->tokenizer);
  } catch (const Error& error) {
    const Fault& fault = error.faults().front();
    keys.add_fault("task", fmt::format("the tokenizer cannot write the task's problems: {}", fault.found),
                   fault.expected, "leave [tokenizer] out, or characters that the task's own does not know");
    return nullptr;
  }
  if (!state->find(Half::train, 0) || !state->find(Half::held_out, 0)) {
    keys.add_fault("task", "the keys leave no problem to train on or none held out", "at least one of each",
                   "wider ranges, so that more problems differ");
    return nullptr;
  }
  return std::make_shared<CounterTask>(std::move(state));
}

}  // namespace maxplus
