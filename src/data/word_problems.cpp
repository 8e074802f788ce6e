// Questions, split and demonstrations of the task `word_problems`; see the header.
#include "data/word_problems.hpp"

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/fingerprint.hpp"
#include "base/random.hpp"
#include "text/chat_template.hpp"

namespace maxplus {

namespace {

enum class WordKind { buys, gives, boxes, more_than, together, lost };
constexpr int kWordKinds = 6;
constexpr std::array<std::string_view, kWordKinds> kWordKindNames = {"buys",      "gives",    "boxes",
                                                                     "more-than", "together", "lost"};
constexpr std::array<std::string_view, 10> kPeople = {"Sam", "Mia", "Tom", "Ana", "Leo",
                                                      "Zoe", "Ben", "Eva", "Max", "Ida"};
constexpr std::array<std::string_view, 8> kThings = {"apples",  "coins",    "books", "cards",
                                                     "marbles", "stickers", "pens",  "shells"};
struct Example {
  std::string_view question, answer;
};
constexpr std::array<Example, 3> kExamples = {{
    {"Kim has 8 balls and finds 5 more. How many balls does Kim have now?", "8 + 5 = 13"},
    {"Pat had 9 cakes and ate 4. How many cakes does Pat still have?", "9 - 4 = 5"},
    {"Joe has 3 bags with 6 nuts in each bag. How many nuts does Joe have in total?", "3 * 6 = 18"},
}};
// Alphabet of a model from scratch: what questions and answers are made of.
constexpr std::string_view kWordAlphabet = "0123456789 +-*=.?\nabcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
constexpr std::uint64_t kSplitClasses = 4;  // one class of four pairs of operands is held out
constexpr std::uint64_t kAttempts = 1000;   // to draw a pair of the wanted side
constexpr std::uint64_t kDrawsOfAttempt = 8;
constexpr std::uint64_t kKindDraw = 1ULL << 62;      // beyond all attempts
constexpr std::uint64_t kSplitCounter = 1ULL << 62;  // problems count from 0, so the split's draws are apart

struct WordKeys {
  std::int64_t problems, held_out, demonstrations, examples;
  std::uint64_t problem_seed, split_seed;
};

WordKeys read_word_keys(KeyReader& keys) {
  WordKeys k{};
  k.problems = keys.integer("problems", 100'000, 1, 1'000'000'000, "how many problems are trained on");
  k.held_out = keys.integer("held_out", 300, 1, 2000, "how many problems are held out, of the six kinds in turn");
  k.problem_seed = static_cast<std::uint64_t>(keys.integer("problem_seed", 1, 0, INT64_MAX, "of the problems"));
  k.split_seed = static_cast<std::uint64_t>(
      keys.integer("split_seed", 1234, 0, INT64_MAX, "of the draw that holds out one pair of operands in four"));
  k.examples = keys.integer("examples", 3, 0, 3, "worked examples before the question");
  k.demonstrations = keys.integer("demonstrations", 20'000, 1, 1'000'000'000, "how many there are");
  return k;
}

struct WordProblem {
  WordKind kind = WordKind::buys;
  std::string question, equation;
  std::int64_t answer = 0;
};

enum class WordSide { train, held_out };

// The two numbers of the examples are never held out: their answers stand in every prompt.
bool is_of_an_example(int low, int high) {
  return (low == 5 && high == 8) || (low == 4 && (high == 8 || high == 9)) || (low == 3 && high == 6);
}

WordSide side_of_pair(int a, int b, const WordKeys& keys) {
  const int low = std::min(a, b), high = std::max(a, b);
  if (is_of_an_example(low, high)) return WordSide::train;
  const std::uint64_t draw = uniform_below(kSplitClasses, keys.split_seed, Purpose::task, kSplitCounter,
                                           static_cast<std::uint64_t>(high * 100 + low));
  return draw == 0 ? WordSide::held_out : WordSide::train;
}

WordProblem written(WordKind kind, std::string_view n, std::string_view m, std::string_view o, int a, int b) {
  const int high = std::max(a, b) + 1, low = std::min(a, b);
  WordProblem p;
  p.kind = kind;
  const auto answer = [&p](int left, char op, int right, int result) {
    p.equation = fmt::format("{} {} {} = {}", left, op, right, result);
    p.answer = result;
  };
  switch (kind) {
    case WordKind::buys:
      p.question = fmt::format("{0} has {2} {1} and buys {3} more. How many {1} does {0} have now?", n, o, a, b);
      answer(a, '+', b, a + b);
      break;
    case WordKind::gives:
      p.question = fmt::format("{0} has {3} {2} and gives {4} of them to {1}. How many {2} does {0} have left?", n, m,
                               o, high, low);
      answer(high, '-', low, high - low);
      break;
    case WordKind::boxes:
      p.question =
          fmt::format("{0} has {2} boxes with {3} {1} in each box. How many {1} does {0} have in total?", n, o, a, b);
      answer(a, '*', b, a * b);
      break;
    case WordKind::more_than:
      p.question =
          fmt::format("{0} has {3} {2}. {1} has {4} more {2} than {0}. How many {2} does {1} have?", n, m, o, a, b);
      answer(a, '+', b, a + b);
      break;
    case WordKind::together:
      p.question =
          fmt::format("{0} has {3} {2} and {1} has {4} {2}. How many {2} do they have together?", n, m, o, a, b);
      answer(a, '+', b, a + b);
      break;
    case WordKind::lost:
      p.question = fmt::format("{0} had {2} {1} and lost {3}. How many {1} does {0} still have?", n, o, high, low);
      answer(high, '-', low, high - low);
      break;
  }
  return p;
}

// The problem of a number. Its kind is drawn once, so that the kinds are equally likely on either side.
WordProblem problem_of(const WordKeys& keys, WordSide side, std::uint64_t number, std::uint64_t first_attempt,
                       std::optional<WordKind> wanted) {
  // Training problems count from 0, held-out ones from 2^61: no draw is shared.
  const std::uint64_t item = side == WordSide::train ? number : (1ULL << 61) + number;
  const auto drawn_kind =
      static_cast<WordKind>(uniform_below(kWordKinds, keys.problem_seed, Purpose::task, item, kKindDraw));
  const WordKind kind = wanted.value_or(drawn_kind);
  for (std::uint64_t attempt = first_attempt; attempt < first_attempt + kAttempts; ++attempt) {
    std::uint64_t next = attempt * kDrawsOfAttempt;
    const auto below = [&](std::uint64_t n) {
      return static_cast<std::size_t>(uniform_below(n, keys.problem_seed, Purpose::task, item, next++));
    };
    const std::size_t n = below(kPeople.size());
    const std::size_t m = (n + 1 + below(kPeople.size() - 1)) % kPeople.size();
    const std::size_t o = below(kThings.size());
    const bool small = kind == WordKind::boxes;
    const int a = small ? 2 + static_cast<int>(below(8)) : 3 + static_cast<int>(below(18));
    const int b = small ? 2 + static_cast<int>(below(8)) : 2 + static_cast<int>(below(19));
    if (side_of_pair(a, b, keys) == side) return written(kind, kPeople[n], kPeople[m], kThings[o], a, b);
  }
  MAXPLUS_REQUIRE(false, fmt::format("no word problem {} in {} attempts", number, kAttempts));
  return {};
}

// In turn of each kind, no question twice.
std::vector<WordProblem> held_out_problems(const WordKeys& keys) {
  std::vector<WordProblem> problems;
  std::set<std::string> questions;
  for (std::int64_t i = 0; i < keys.held_out; ++i) {
    WordProblem p;
    for (std::uint64_t round = 0;; ++round) {
      p = problem_of(keys, WordSide::held_out, static_cast<std::uint64_t>(i), round * kAttempts,
                     static_cast<WordKind>(i % kWordKinds));
      if (questions.insert(p.question).second) break;
    }
    problems.push_back(std::move(p));
  }
  return problems;
}

std::string word_hash(const WordKeys& k, std::string_view what) {
  const std::string text = fmt::format("word_problems {} {} {} {} {} {} {}", what, k.problems, k.held_out,
                                       k.problem_seed, k.split_seed, k.examples, k.demonstrations);
  return fingerprint(text);
}

std::vector<std::int32_t> word_prompt(const Tokenizer& tokenizer, std::int64_t examples, const std::string& question) {
  if (tokenizer.chat() == nullptr) {
    std::string text;
    for (std::int64_t i = 0; i < examples; ++i) {
      const Example& example = kExamples[static_cast<std::size_t>(i)];
      text += fmt::format("{}\n{}\n\n", example.question, example.answer);
    }
    return tokenizer.encode(text + question + "\n", SpecialText::as_text);
  }
  std::vector<ChatMessage> messages;
  for (std::int64_t i = 0; i < examples; ++i) {
    const Example& example = kExamples[static_cast<std::size_t>(i)];
    messages.push_back({"user", std::string(example.question)});
    messages.push_back({"assistant", std::string(example.answer)});
  }
  messages.push_back({"user", question});
  return encode_chat(tokenizer, messages, GenerationPrompt::add);
}

Problem as_problem(const WordProblem& p, std::int64_t id, const WordKeys& keys, const Tokenizer& tokenizer) {
  Problem problem;
  problem.id = id;
  problem.prompt_text = p.question;
  problem.prompt = word_prompt(tokenizer, keys.examples, p.question);
  problem.answer = p.answer;
  problem.extra["kind"] = kWordKindNames[static_cast<std::size_t>(p.kind)];
  return problem;
}

class WordTraining final : public ProblemSource {
 public:
  WordTraining(const WordKeys& keys, std::shared_ptr<const Tokenizer> tokenizer)
      : keys_(keys), tokenizer_(std::move(tokenizer)) {}
  std::int64_t size() const override { return keys_.problems; }
  std::string where(std::int64_t index) const override { return fmt::format("task word_problems, problem {}", index); }
  std::string hash() const override { return word_hash(keys_, "train"); }
  Problem at(std::int64_t index) const override {
    MAXPLUS_REQUIRE(index >= 0 && index < size(), fmt::format("problem {} of {}", index, size()));
    const WordProblem p = problem_of(keys_, WordSide::train, static_cast<std::uint64_t>(index), 0, std::nullopt);
    return as_problem(p, index, keys_, *tokenizer_);
  }

 private:
  WordKeys keys_;
  std::shared_ptr<const Tokenizer> tokenizer_;
};

class WordDemonstrations final : public DemonstrationSource {
 public:
  WordDemonstrations(const WordKeys& keys, std::shared_ptr<const Tokenizer> tokenizer)
      : keys_(keys), tokenizer_(std::move(tokenizer)) {}
  std::int64_t size() const override { return keys_.demonstrations; }
  std::string hash() const override { return word_hash(keys_, "demonstrations"); }
  Demonstration at(std::int64_t number) const override {
    const WordProblem p =
        problem_of(keys_, WordSide::train, static_cast<std::uint64_t>(number % keys_.problems), 0, std::nullopt);
    Demonstration d;
    d.number = number;
    d.prompt = word_prompt(*tokenizer_, keys_.examples, p.question);
    d.response = tokenizer_->encode(p.equation, SpecialText::as_text);
    d.response.push_back(answer_end(*tokenizer_));
    d.weight.assign(d.response.size(), 1.0F);
    return d;
  }

 private:
  WordKeys keys_;
  std::shared_ptr<const Tokenizer> tokenizer_;
};

class WordProblemsTask final : public Task {
 public:
  WordProblemsTask(const WordKeys& keys, std::shared_ptr<const Tokenizer> tokenizer)
      : keys_(keys), tokenizer_(std::move(tokenizer)) {}
  std::string_view name() const override { return "word_problems"; }
  std::string_view verifier() const override { return "word_problems"; }
  std::shared_ptr<const Tokenizer> tokenizer() const override { return tokenizer_; }
  std::shared_ptr<const ProblemSource> train() const override {
    return std::make_shared<WordTraining>(keys_, tokenizer_);
  }
  std::shared_ptr<const ProblemSource> held_out() const override {
    std::vector<Problem> list;
    for (const WordProblem& p : held_out_problems(keys_))
      list.push_back(as_problem(p, keys_.problems + static_cast<std::int64_t>(list.size()), keys_, *tokenizer_));
    return std::make_shared<ProblemList>("task word_problems, held out", std::move(list), std::vector<std::string>());
  }
  std::shared_ptr<const DemonstrationSource> demonstrations() const override {
    return std::make_shared<WordDemonstrations>(keys_, tokenizer_);
  }

 private:
  WordKeys keys_;
  std::shared_ptr<const Tokenizer> tokenizer_;
};

}  // namespace

std::shared_ptr<const Task> make_word_problems_task(KeyReader& keys, std::shared_ptr<const Tokenizer> tokenizer) {
  const WordKeys k = read_word_keys(keys);
  if (!keys.faults().empty()) return nullptr;
  if (tokenizer == nullptr) tokenizer = make_character_tokenizer(kWordAlphabet);
  try {
    (void)word_prompt(*tokenizer, k.examples, std::string(kWordAlphabet));
    (void)answer_end(*tokenizer);
  } catch (const Error& error) {
    const Fault& fault = error.faults().front();
    keys.add_fault("task", fmt::format("the tokenizer cannot write the task's prompts: {}", fault.found),
                   fault.expected, fault.advice);
    return nullptr;
  }
  return std::make_shared<WordProblemsTask>(k, std::move(tokenizer));
}

}  // namespace maxplus
