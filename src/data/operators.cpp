// Problems, split and demonstrations of the task `operators`; see the header.
#include "data/operators.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/fingerprint.hpp"
#include "base/random.hpp"
#include "data/problem_order.hpp"

namespace maxplus {

namespace {

struct OperatorsKeys {
  int max_number, max_target, max_value;
  double held_out_share;
  std::uint64_t split_seed, demonstration_seed;
  std::int64_t demonstrations;
  double patient, first_hit, give_up;
  float verdict_weight;
  int demonstrated_max_number, demonstrated_max_target;
};

// Which draw of a demonstration is which counter.
enum Draw : std::uint64_t {
  draw_problem = 0,
  draw_first_is_hit = 1,
  draw_first_try = 2,
  draw_patient = 3,
  draw_give_up = 16
};

OperatorsKeys read_operators_keys(KeyReader& keys) {
  OperatorsKeys k{};
  k.max_number = static_cast<int>(keys.integer("max_number", 9, 1, 99, "the numbers are 1 to this"));
  k.max_target = static_cast<int>(keys.integer("max_target", 30, 1, 999, "the targets are 1 to this"));
  k.max_value = static_cast<int>(
      keys.integer("max_value", k.max_target, 1, 9999, "values on the way lie in 0 to this; default: max_target"));
  k.held_out_share = keys.number("held_out_share", 0.2, 0.001, 0.9, "share of the problems that is never trained on");
  k.split_seed = static_cast<std::uint64_t>(
      keys.integer("split_seed", 1234, 0, INT64_MAX, "of the shuffle that splits the problems"));
  k.demonstration_seed =
      static_cast<std::uint64_t>(keys.integer("demonstration_seed", 1, 0, INT64_MAX, "of the demonstrations"));
  k.demonstrations = keys.integer("demonstrations", 20000, 1, 1'000'000'000, "how many there are");
  k.patient = keys.number("patient", 0.35, 0, 1, "share of demonstrators that go on after a miss");
  k.first_hit = keys.number("first_hit", 0.2, 0, 1, "probability that the first try is a hit on purpose");
  k.give_up = keys.number("give_up", 0.12, 0, 1, "probability that a patient one gives up after a miss");
  k.verdict_weight =
      static_cast<float>(keys.number("verdict_weight", 2, 0, 1000, "weight of the yes/no tokens in the loss"));
  k.demonstrated_max_number = static_cast<int>(keys.integer(
      "demonstrated_max_number", 0, 0, 99, "demonstrations use problems with numbers up to this only; 0: all"));
  k.demonstrated_max_target = static_cast<int>(keys.integer(
      "demonstrated_max_target", 0, 0, 999, "demonstrations use problems with targets up to this only; 0: all"));
  if (k.max_value < k.max_target || k.max_value < k.max_number) {
    keys.add_fault("max_value",
                   fmt::format("max_value = {} is below max_target = {} or max_number = {}", k.max_value, k.max_target,
                               k.max_number),
                   "a value on the way may be any number or target",
                   fmt::format("max_value = {}", std::max(k.max_target, k.max_number)));
  }
  return k;
}

std::vector<OperatorsProblem> all_problems(const OperatorsKeys& keys) {
  std::vector<OperatorsProblem> problems;
  for (int a = 1; a <= keys.max_number; ++a) {
    for (int b = 1; b <= keys.max_number; ++b) {
      for (int c = 1; c <= keys.max_number; ++c) {
        const std::array<int, 3> number = {a, b, c};
        std::vector<int> targets;
        for (const int pair : legal_pairs(number, keys.max_value)) {
          const int value = (*legal_values(number, kOperatorPairs[static_cast<std::size_t>(pair)], keys.max_value))[1];
          if (value >= 1 && value <= keys.max_target) targets.push_back(value);
        }
        std::sort(targets.begin(), targets.end());
        targets.erase(std::unique(targets.begin(), targets.end()), targets.end());
        for (const int target : targets) problems.push_back({number, target});
      }
    }
  }
  return problems;
}

// The ids of the pieces that prompts and demonstrations are made of.
struct Pieces {
  std::vector<std::int32_t> number;
  std::int32_t plus = 0, minus = 0, times = 0, equals = 0, colon = 0, yes = 0, no = 0, arrow = 0, end = 0;
  std::int32_t of(char op) const { return op == '+' ? plus : op == '-' ? minus : times; }
};

std::string task_words(int max_value) {
  std::string words;
  for (int n = 0; n <= max_value; ++n) words += fmt::format("{} ", n);
  return words + "+ - * = : yes no ->";
}

std::optional<Pieces> find_pieces(const Tokenizer& tokenizer, int max_value, KeyReader& keys) {
  std::vector<std::string> missing;
  const auto find = [&](const std::string& word) {
    const auto id = tokenizer.id_of(word);
    if (!id) missing.push_back(word);
    return id.value_or(0);
  };
  Pieces p;
  for (int n = 0; n <= max_value; ++n) p.number.push_back(find(fmt::format("{}", n)));
  p.plus = find("+"), p.minus = find("-"), p.times = find("*"), p.equals = find("="), p.colon = find(":");
  p.yes = find("yes"), p.no = find("no"), p.arrow = find("->");
  p.end = tokenizer.end_token();
  if (missing.empty()) return p;
  keys.add_fault("task",
                 fmt::format("[tokenizer] lacks {} of the task's words, the first '{}'", missing.size(), missing[0]),
                 fmt::format("kind = \"words\" with words = \"{}\"", task_words(max_value)),
                 "leave [tokenizer] out: the task brings its own");
  return std::nullopt;
}

// What the problem sources and the demonstrations share.
struct OperatorsState {
  OperatorsKeys keys;
  Pieces piece;
  std::vector<OperatorsProblem> train, held_out, demonstrated;
};

std::vector<std::int32_t> prompt_of(const OperatorsProblem& p, const Pieces& piece) {
  const auto n = [&piece](int value) { return piece.number[static_cast<std::size_t>(value)]; };
  return {n(p.number[0]), n(p.number[1]), n(p.number[2]), piece.equals, n(p.target), piece.colon};
}

std::shared_ptr<const ProblemSource> list_of(const std::vector<OperatorsProblem>& problems, const Pieces& piece,
                                             std::int64_t first_id, std::string name) {
  std::vector<Problem> list;
  for (std::size_t i = 0; i < problems.size(); ++i) {
    const OperatorsProblem& p = problems[i];
    Problem problem;
    problem.id = first_id + static_cast<std::int64_t>(i);
    problem.prompt = prompt_of(p, piece);
    problem.prompt_text = fmt::format("{} {} {} = {} :", p.number[0], p.number[1], p.number[2], p.target);
    problem.answer = Json{{"numbers", p.number}, {"target", p.target}};
    list.push_back(std::move(problem));
  }
  return std::make_shared<ProblemList>(std::move(name), std::move(list), std::vector<std::string>());
}

class OperatorsDemonstrations final : public DemonstrationSource {
 public:
  explicit OperatorsDemonstrations(std::shared_ptr<const OperatorsState> state) : state_(std::move(state)) {}
  std::int64_t size() const override { return state_->keys.demonstrations; }
  std::string hash() const override {
    const OperatorsKeys& k = state_->keys;
    const std::string text =
        fmt::format("operators {} {} {} {} {} {} {} {} {} {} {} {} {}", k.max_number, k.max_target, k.max_value,
                    k.held_out_share, k.split_seed, k.demonstration_seed, k.demonstrations, k.patient, k.first_hit,
                    k.give_up, k.verdict_weight, k.demonstrated_max_number, k.demonstrated_max_target);
    return fingerprint(text);
  }
  Demonstration at(std::int64_t number) const override;

 private:
  double draw(std::int64_t number, std::uint64_t which) const {
    return uniform_double(state_->keys.demonstration_seed, Purpose::demonstration, static_cast<std::uint64_t>(number),
                          which);
  }
  std::size_t pick(std::int64_t number, std::uint64_t which, std::size_t count) const {
    return static_cast<std::size_t>(uniform_below(count, state_->keys.demonstration_seed, Purpose::demonstration,
                                                  static_cast<std::uint64_t>(number), which));
  }
  void write_try(const OperatorsProblem& p, int pair, std::int32_t verdict, Demonstration& d) const;

  std::shared_ptr<const OperatorsState> state_;
};

void OperatorsDemonstrations::write_try(const OperatorsProblem& p, int pair, std::int32_t verdict,
                                        Demonstration& d) const {
  const Pieces& piece = state_->piece;
  const auto n = [&piece](int value) { return piece.number[static_cast<std::size_t>(value)]; };
  const OperatorPair op = kOperatorPairs[static_cast<std::size_t>(pair)];
  const std::array<int, 2> value = *legal_values(p.number, op, state_->keys.max_value);
  for (const std::int32_t token :
       {n(p.number[0]), piece.of(op.first), n(p.number[1]), piece.equals, n(value[0]), piece.of(op.second),
        n(p.number[2]), piece.equals, n(value[1]), n(p.target), verdict}) {
    d.response.push_back(token);
    d.weight.push_back(1.0F);
  }
  d.weight.back() = state_->keys.verdict_weight;
}

Demonstration OperatorsDemonstrations::at(std::int64_t number) const {
  const OperatorsKeys& keys = state_->keys;
  const Pieces& piece = state_->piece;
  const OperatorsProblem& p = state_->demonstrated[pick(number, draw_problem, state_->demonstrated.size())];
  const std::vector<int> legal = legal_pairs(p.number, keys.max_value);
  const auto hits = [&](int pair) {
    return (*legal_values(p.number, kOperatorPairs[static_cast<std::size_t>(pair)], keys.max_value))[1] == p.target;
  };
  std::vector<std::size_t> hit;  // places in `legal`
  for (std::size_t i = 0; i < legal.size(); ++i) {
    if (hits(legal[i])) hit.push_back(i);
  }
  std::size_t place = draw(number, draw_first_is_hit) < keys.first_hit ? hit[pick(number, draw_first_try, hit.size())]
                                                                       : pick(number, draw_first_try, legal.size());
  const bool patient = draw(number, draw_patient) < keys.patient;
  Demonstration d;
  d.number = number;
  d.prompt = prompt_of(p, piece);
  for (std::uint64_t miss = 0;; ++miss) {
    const bool is_hit = hits(legal[place]);
    write_try(p, legal[place], is_hit ? piece.yes : piece.no, d);
    if (is_hit || !patient || draw(number, draw_give_up + miss) < keys.give_up) break;
    place = (place + 1) % legal.size();  // a hit exists, so this ends
  }
  const OperatorPair op = kOperatorPairs[static_cast<std::size_t>(legal[place])];
  const auto n = [&piece](int value) { return piece.number[static_cast<std::size_t>(value)]; };
  for (const std::int32_t token : {piece.arrow, n(p.number[0]), piece.of(op.first), n(p.number[1]), piece.of(op.second),
                                   n(p.number[2]), piece.end}) {
    d.response.push_back(token);
    d.weight.push_back(1.0F);
  }
  return d;
}

class OperatorsTask final : public Task {
 public:
  OperatorsTask(std::shared_ptr<const OperatorsState> state, std::shared_ptr<const Tokenizer> tokenizer)
      : state_(std::move(state)), tokenizer_(std::move(tokenizer)) {
    const auto trained = static_cast<std::int64_t>(state_->train.size());
    train_ = list_of(state_->train, state_->piece, 0, "task operators");
    held_out_ = list_of(state_->held_out, state_->piece, trained, "task operators, held out");
  }
  std::string_view name() const override { return "operators"; }
  std::string_view verifier() const override { return "operators"; }
  std::shared_ptr<const Tokenizer> tokenizer() const override { return tokenizer_; }
  std::shared_ptr<const ProblemSource> train() const override { return train_; }
  std::shared_ptr<const ProblemSource> held_out() const override { return held_out_; }
  std::shared_ptr<const DemonstrationSource> demonstrations() const override {
    return std::make_shared<OperatorsDemonstrations>(state_);
  }

 private:
  std::shared_ptr<const OperatorsState> state_;
  std::shared_ptr<const Tokenizer> tokenizer_;
  std::shared_ptr<const ProblemSource> train_, held_out_;
};

void split(OperatorsState& state) {
  const std::vector<OperatorsProblem> all = all_problems(state.keys);
  if (all.empty()) return;
  const auto size = static_cast<std::int64_t>(all.size());
  const auto held = static_cast<std::int64_t>(static_cast<double>(size) * state.keys.held_out_share);
  const ProblemOrder shuffle(state.keys.split_seed, Purpose::task, size, Order::shuffled);
  for (std::int64_t i = 0; i < size; ++i) {
    (i < held ? state.held_out : state.train).push_back(all[static_cast<std::size_t>(shuffle.at(i))]);
  }
  const int number_limit = state.keys.demonstrated_max_number, target_limit = state.keys.demonstrated_max_target;
  for (const OperatorsProblem& p : state.train) {
    const bool low = (number_limit == 0 || *std::max_element(p.number.begin(), p.number.end()) <= number_limit) &&
                     (target_limit == 0 || p.target <= target_limit);
    if (low) state.demonstrated.push_back(p);
  }
}

}  // namespace

std::optional<std::array<int, 2>> legal_values(const std::array<int, 3>& number, OperatorPair pair, int max_value) {
  const auto apply = [](int a, char op, int b) { return op == '+' ? a + b : op == '-' ? a - b : a * b; };
  const int first = apply(number[0], pair.first, number[1]);
  if (first < 0 || first > max_value) return std::nullopt;
  const int second = apply(first, pair.second, number[2]);
  if (second < 0 || second > max_value) return std::nullopt;
  return std::array<int, 2>{first, second};
}

std::vector<int> legal_pairs(const std::array<int, 3>& number, int max_value) {
  std::vector<int> pairs;
  for (std::size_t i = 0; i < kOperatorPairs.size(); ++i) {
    if (legal_values(number, kOperatorPairs[i], max_value)) pairs.push_back(static_cast<int>(i));
  }
  return pairs;
}

std::shared_ptr<const Task> make_operators_task(KeyReader& keys, std::shared_ptr<const Tokenizer> tokenizer) {
  auto state = std::make_shared<OperatorsState>();
  state->keys = read_operators_keys(keys);
  if (!keys.faults().empty()) return nullptr;
  if (tokenizer == nullptr) tokenizer = make_word_tokenizer(task_words(state->keys.max_value));
  const auto pieces = find_pieces(*tokenizer, state->keys.max_value, keys);
  if (!pieces) return nullptr;
  state->piece = *pieces;
  split(*state);
  if (state->demonstrated.empty() || state->held_out.empty()) {
    keys.add_fault("task", "the keys leave no problem to demonstrate or none held out", "at least one of each",
                   "a larger max_number or max_target");
    return nullptr;
  }
  return std::make_shared<OperatorsTask>(std::move(state), std::move(tokenizer));
}

}  // namespace maxplus
