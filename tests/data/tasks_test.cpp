// Built-in tasks and the order of problems.
#include "data/task.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <span>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "data/operators.hpp"
#include "data/problem_order.hpp"
#include "text/gguf_tokenizer.hpp"
#include "text/published_tokenizers.hpp"

namespace maxplus {
namespace {

std::shared_ptr<const Task> task(const char* name, const nlohmann::json& keys) { return make_task(name, keys, nullptr, Locate()); }

TEST(ProblemOrder, TakesEveryProblemOnceAnEpochInAnotherOrder) {
  for (const std::int64_t size : {1, 2, 3, 5, 64, 637, 1025}) {
    const ProblemOrder order(9, Purpose::problem_order, size, Order::shuffled);
    std::vector<std::int64_t> first, second;
    for (std::int64_t i = 0; i < size; ++i) {
      first.push_back(order.at(i));
      second.push_back(order.at(size + i));
    }
    if (size > 5) {
      EXPECT_NE(first, second);
    }
    for (auto* epoch : {&first, &second}) {
      std::sort(epoch->begin(), epoch->end());
      for (std::int64_t i = 0; i < size; ++i) ASSERT_EQ((*epoch)[static_cast<std::size_t>(i)], i);
    }
  }
}

TEST(ProblemOrder, LooksLikeAShuffle) {
  // Where problem 0 lands, over 4,000 epochs of 10: each place 400 times; five standard deviations are 95.
  const ProblemOrder order(3, Purpose::problem_order, 10, Order::shuffled);
  std::vector<int> count(10, 0);
  for (std::int64_t epoch = 0; epoch < 4000; ++epoch) {
    for (std::int64_t i = 0; i < 10; ++i) count[static_cast<std::size_t>(i)] += order.at(epoch * 10 + i) == 0 ? 1 : 0;
  }
  for (const int c : count) EXPECT_NEAR(c, 400, 95);
  const ProblemOrder file(3, Purpose::problem_order, 10, Order::file);
  EXPECT_EQ(file.at(23), 3);
  EXPECT_EQ(file.epoch_of(23), 2);
}

// Written down a second time, in the plainest way.
struct Brute {
  int problems = 0;
  double legal = 0, guess = 0;
};
Brute brute(int max_number, int max_target) {
  Brute b;
  const auto apply = [](int x, char op, int y) { return op == '+' ? x + y : op == '-' ? x - y : x * y; };
  for (int all = 0; all < max_number * max_number * max_number; ++all) {
    const int a = 1 + all / (max_number * max_number), c = 1 + all / max_number % max_number, e = 1 + all % max_number;
    std::map<int, int> ways;
    int legal = 0;
    for (int pair = 0; pair < 9; ++pair) {
      const int x = apply(a, "+-*"[pair / 3], c), y = apply(x, "+-*"[pair % 3], e);
      if (x < 0 || x > max_target || y < 0 || y > max_target) continue;
      ++legal;
      ++ways[y];
    }
    for (const auto& [target, n] : ways) {
      if (target == 0) continue;
      ++b.problems;
      b.legal += legal;
      b.guess += static_cast<double>(n) / legal;
    }
  }
  b.legal /= b.problems;
  b.guess /= b.problems;
  return b;
}

TEST(OperatorsTask, HasTheProblemsOfTheRecipe) {
  const auto t = task("operators", {});
  EXPECT_EQ(t->train()->size(), 2550);
  EXPECT_EQ(t->held_out()->size(), 637);
  EXPECT_EQ(t->tokenizer()->vocabulary_size(), 31 + 8 + 1);
  double legal = 0, guess = 0;
  std::set<std::string> seen;
  for (const auto& source : {t->train(), t->held_out()}) {
    for (std::int64_t i = 0; i < source->size(); ++i) {
      const Problem p = source->at(i);
      EXPECT_TRUE(seen.insert(p.prompt_text).second) << p.prompt_text;
      EXPECT_EQ(t->tokenizer()->decode(p.prompt), p.prompt_text);
      EXPECT_EQ(p.prompt.size(), 6U);
      const auto number = p.answer["numbers"].get<std::array<int, 3>>();
      const std::vector<int> pairs = legal_pairs(number, 30);
      const auto hits = std::count_if(pairs.begin(), pairs.end(), [&](int pair) { return (*legal_values(number, kOperatorPairs[static_cast<std::size_t>(pair)], 30))[1] == p.answer["target"]; });
      EXPECT_GE(hits, 1);
      legal += static_cast<double>(pairs.size());
      guess += static_cast<double>(hits) / static_cast<double>(pairs.size());
    }
  }
  const Brute b = brute(9, 30);
  EXPECT_EQ(b.problems, 3187);
  EXPECT_EQ(seen.size(), 3187U);
  EXPECT_NEAR(legal / 3187, b.legal, 1e-9);
  EXPECT_NEAR(guess / 3187, b.guess, 1e-9);
  EXPECT_NEAR(b.legal, 5.5136, 1e-4);  // counted once more outside of this program
  EXPECT_NEAR(b.guess, 0.2183, 1e-4);
}

TEST(OperatorsTask, MakesHarderVariants) {
  const auto t = task("operators", {{"max_number", 12}, {"max_target", 60}});
  EXPECT_EQ(t->train()->size() + t->held_out()->size(), brute(12, 60).problems);
  EXPECT_EQ(t->tokenizer()->vocabulary_size(), 61 + 8 + 1);
}

struct Statistics {
  double wrong = 0, length = 0, first_hit = 0;
  std::size_t longest = 0;
};

Statistics statistics(const Task& t, std::int64_t count) {
  std::set<std::vector<std::int32_t>> trained;
  for (std::int64_t i = 0; i < t.train()->size(); ++i) trained.insert(t.train()->at(i).prompt);
  const auto source = t.demonstrations();
  const std::int32_t yes = *t.tokenizer()->id_of("yes"), no = *t.tokenizer()->id_of("no");
  Statistics s;
  for (std::int64_t n = 0; n < count; ++n) {
    const Demonstration d = source->at(n);
    EXPECT_TRUE(trained.contains(d.prompt));
    EXPECT_EQ(d.response.size(), d.weight.size());
    EXPECT_EQ((d.response.size() - 7) % 11, 0U);
    EXPECT_EQ(d.response.back(), t.tokenizer()->end_token());
    EXPECT_EQ(std::count(d.response.begin(), d.response.end(), yes) + std::count(d.response.begin(), d.response.end(), no),
              static_cast<std::ptrdiff_t>((d.response.size() - 7) / 11));
    s.wrong += std::count(d.response.begin(), d.response.end(), yes) == 0 ? 1 : 0;
    s.first_hit += d.response[10] == yes ? 1 : 0;
    s.length += static_cast<double>(d.response.size());
    s.longest = std::max(s.longest, d.response.size());
  }
  const auto all = static_cast<double>(count);
  return {s.wrong / all, s.length / all, s.first_hit / all, s.longest};
}

TEST(OperatorsDemonstrations, HaveTheStatisticsOfTheRecipe) {
  const Statistics usual = statistics(*task("operators", {{"patient", 0.35}}), 4000);
  const Statistics last = statistics(*task("operators", {{"patient", 0.1}}), 4000);
  EXPECT_NEAR(usual.wrong, 0.5, 0.04);   // "about half"; one standard deviation of 4,000 is 0.008
  EXPECT_NEAR(last.wrong, 0.58, 0.03);   // "about 58 %"
  EXPECT_NEAR(usual.first_hit, 0.2 + 0.8 * 0.218, 0.03);
  EXPECT_LE(usual.longest, 106U);
  EXPECT_GT(usual.longest, 84U);
  EXPECT_EQ(statistics(*task("operators", {{"patient", 0.0}}), 500).longest, 18U);
}

TEST(OperatorsDemonstrations, AreFunctionsOfSeedAndNumber) {
  const auto a = task("operators", {})->demonstrations(), b = task("operators", {})->demonstrations();
  const auto other = task("operators", {{"demonstration_seed", 2}})->demonstrations();
  EXPECT_EQ(a->at(123).response, b->at(123).response);
  int same = 0;
  for (std::int64_t n = 0; n < 50; ++n) same += a->at(n).prompt == other->at(n).prompt ? 1 : 0;
  EXPECT_LT(same, 5);
  EXPECT_EQ(a->hash(), b->hash());
  EXPECT_NE(a->hash(), other->hash());
}

TEST(OperatorsDemonstrations, WeightTheVerdictsOnly) {
  const auto t = task("operators", {{"verdict_weight", 5}});
  const Demonstration d = t->demonstrations()->at(0);
  for (std::size_t i = 0; i < d.response.size(); ++i) {
    const std::string piece = t->tokenizer()->piece(d.response[i]);
    EXPECT_EQ(d.weight[i], piece == "yes" || piece == "no" ? 5.0F : 1.0F);
  }
}

TEST(OperatorsDemonstrations, MayCoverEasyProblemsOnly) {
  const auto t = task("operators", {{"demonstrated_max_target", 10}, {"demonstrated_max_number", 5}});
  for (std::int64_t n = 0; n < 200; ++n) {
    const Demonstration d = t->demonstrations()->at(n);
    EXPECT_LE(d.prompt[4], 10);  // ids of numbers are the numbers
    EXPECT_LE(*std::max_element(d.prompt.begin(), d.prompt.begin() + 3), 5);
  }
}

TEST(CountdownTask, KeepsTrainAndHeldOutApart) {
  const auto t = task("countdown", {{"problems", 500}, {"held_out", 300}, {"max_number", 6}, {"max_target", 20}});
  const auto keys = [](const ProblemSource& source) {
    std::set<std::string> set;
    for (std::int64_t i = 0; i < source.size(); ++i) {
      auto numbers = source.at(i).answer["numbers"].get<std::vector<int>>();
      std::sort(numbers.begin(), numbers.end());
      set.insert(Json(numbers).dump() + source.at(i).answer["target"].dump());
    }
    return set;
  };
  const auto train = keys(*t->train()), held = keys(*t->held_out());
  EXPECT_GT(train.size(), 100U);
  for (const auto& key : held) EXPECT_FALSE(train.contains(key)) << key;
  EXPECT_EQ(t->train()->at(17).prompt, task("countdown", {{"problems", 500}, {"held_out", 300}, {"max_number", 6}, {"max_target", 20}})->train()->at(17).prompt);
}

TEST(CountdownTask, DemonstratesWithAnAnswerTag) {
  const auto t = task("countdown", {{"patient", 1.0}, {"give_up", 0.0}});
  for (std::int64_t n = 0; n < 50; ++n) {
    const Demonstration d = t->demonstrations()->at(n);
    ASSERT_EQ(d.response.size(), d.weight.size());
    const std::string text = t->tokenizer()->decode(d.response);
    EXPECT_TRUE(text.ends_with("</answer><eos>")) << text;
    EXPECT_NE(text.find(" yes <answer>"), std::string::npos) << text;
  }
}

TEST(Tasks, ListAllFaultsOfTheirKeysAtOnce) {
  const auto faults_of = [](const char* name, const nlohmann::json& keys, std::shared_ptr<const Tokenizer> tokenizer) {
    try {
      make_task(name, keys, std::move(tokenizer), [](std::string_view key) { return "deck.toml:" + std::string(key); });
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::config);
      return error.faults();
    }
    return std::vector<Fault>();
  };
  EXPECT_EQ(faults_of("operators", {{"max_number", 0}, {"patient", 2}, {"max_targt", 3}}, nullptr).size(), 3U);
  EXPECT_EQ(faults_of("operators", {{"max_number", 0}}, nullptr)[0].where, "deck.toml:max_number");
  EXPECT_EQ(faults_of("operators", {{"max_value", 10}}, nullptr).size(), 1U);
  EXPECT_EQ(faults_of("operators", nlohmann::json::object(), make_word_tokenizer("0 1 2")).size(), 1U);
  EXPECT_EQ(faults_of("countdown", nlohmann::json::object(), make_word_tokenizer("0 1 2")).size(), 1U);
  EXPECT_NE(faults_of("operator", nlohmann::json::object(), nullptr)[0].found.find("did you mean 'operators'"), std::string::npos);
  EXPECT_EQ(task_keys("operators").size(), 13U);
}

// The operands of a question are its two numbers; those of an example stand in every prompt.
std::pair<int, int> numbers_in(const std::string& question) {
  std::vector<int> found;
  for (std::size_t i = 0; i < question.size(); ++i) {
    if (std::isdigit(static_cast<unsigned char>(question[i])) == 0) continue;
    found.push_back(std::stoi(question.substr(i)));
    while (i < question.size() && std::isdigit(static_cast<unsigned char>(question[i])) != 0) ++i;
  }
  EXPECT_EQ(found.size(), 2u) << question;
  return {std::min(found[0], found[1]), std::max(found[0], found[1])};
}

TEST(WordProblems, HoldsOutOperandsThatNoTrainingQuestionHas) {
  const auto words = task("word_problems", {{"problems", 6000}, {"held_out", 300}});
  const auto train = words->train(), held_out = words->held_out();
  ASSERT_EQ(held_out->size(), 300);
  // Sums and products on one side, differences on the other: in these the larger number is one more than the operand.
  std::set<std::pair<int, int>> sums, differences, trained_sums, trained_differences;
  std::set<std::string> texts, trained_texts;
  std::map<std::string, int> kinds, trained_kinds;
  const auto sort_in = [](const Problem& p, auto& of_sums, auto& of_differences, auto& of_kinds, auto& of_texts) {
    const auto kind = p.extra["kind"].get<std::string>();
    auto pair = numbers_in(p.prompt_text);
    const bool difference = kind == "gives" || kind == "lost";
    const std::int64_t right = difference         ? pair.second - pair.first
                               : kind == "boxes" ? pair.first * pair.second
                                                 : pair.first + pair.second;
    EXPECT_EQ(p.answer.get<std::int64_t>(), right) << p.prompt_text;
    (difference ? of_differences : of_sums).insert(difference ? std::pair(pair.first, pair.second - 1) : pair);
    ++of_kinds[kind];
    of_texts.insert(p.prompt_text);
  };
  for (std::int64_t i = 0; i < held_out->size(); ++i) sort_in(held_out->at(i), sums, differences, kinds, texts);
  for (std::int64_t i = 0; i < 6000; ++i)
    sort_in(train->at(i), trained_sums, trained_differences, trained_kinds, trained_texts);
  EXPECT_EQ(texts.size(), 300u);
  std::set<std::pair<int, int>> held = sums, trained = trained_sums;
  held.insert(differences.begin(), differences.end());
  trained.insert(trained_differences.begin(), trained_differences.end());
  EXPECT_GT(held.size(), 25u);
  for (const auto& pair : held) EXPECT_EQ(trained.count(pair), 0u) << pair.first << " " << pair.second;
  for (const auto& example : {std::pair(5, 8), std::pair(4, 8), std::pair(3, 6)}) EXPECT_EQ(held.count(example), 0u);
  ASSERT_EQ(kinds.size(), 6u);
  for (const auto& [kind, count] : kinds) {
    EXPECT_EQ(count, 50) << kind;
    EXPECT_NEAR(trained_kinds[kind], 1000, 144) << kind;  // 6000 draws of probability 1/6: five deviations
  }
}

TEST(WordProblems, AreFunctionsOfTheirNumbersAndWriteTheirExamples) {
  const auto first = task("word_problems", nlohmann::json::object()), second = task("word_problems", nlohmann::json::object());
  const auto other = task("word_problems", {{"problem_seed", 2}});
  int different = 0;
  for (const std::int64_t i : {99'999, 0, 17}) {
    EXPECT_EQ(first->train()->at(i).prompt, second->train()->at(i).prompt);
    different += first->train()->at(i).prompt_text != other->train()->at(i).prompt_text;
  }
  EXPECT_GT(different, 0);
  EXPECT_NE(first->train()->hash(), other->train()->hash());
  const Problem p = first->train()->at(5);
  const std::string prompt = first->tokenizer()->decode(p.prompt);
  EXPECT_EQ(prompt.find("Kim has 8 balls and finds 5 more. How many balls does Kim have now?\n8 + 5 = 13\n"), 0u);
  EXPECT_EQ(prompt.substr(prompt.size() - p.prompt_text.size() - 1), p.prompt_text + "\n");
  const Demonstration d = first->demonstrations()->at(5);
  EXPECT_EQ(d.prompt, p.prompt);
  const std::string answer = first->tokenizer()->decode(std::span(d.response).first(d.response.size() - 1));
  EXPECT_EQ(answer.substr(answer.find("= ") + 2), std::to_string(p.answer.get<std::int64_t>()));
  EXPECT_EQ(d.response.back(), first->tokenizer()->end_token());
}

// The prompt of inputs/smollm2: three earlier turns, no system turn.
TEST(WordProblems, AskAChatModelAfterThreeWorkedTurns) {
  const testing::ScratchFolder folder("word_problems");
  testing::smollm2_metadata("").write(folder.path() / "m.gguf");
  PublishedTokenizer published = read_gguf_tokenizer(GgufFile(folder.path() / "m.gguf"));
  published.description.chat.format = "chatml";
  const auto tokenizer = make_bpe_tokenizer(std::move(published.description), published.where);
  const auto words = make_task("word_problems", nlohmann::json::object(), tokenizer, Locate());
  std::vector<std::int32_t> shared = words->train()->at(0).prompt;
  for (std::int64_t i = 0; i < 200; ++i) {
    const Problem p = words->train()->at(i);
    EXPECT_EQ(tokenizer->decode(p.prompt),
              "<|im_start|>user\nKim has 8 balls and finds 5 more. How many balls does Kim have now?<|im_end|>\n"
              "<|im_start|>assistant\n8 + 5 = 13<|im_end|>\n"
              "<|im_start|>user\nPat had 9 cakes and ate 4. How many cakes does Pat still have?<|im_end|>\n"
              "<|im_start|>assistant\n9 - 4 = 5<|im_end|>\n"
              "<|im_start|>user\nJoe has 3 bags with 6 nuts in each bag. How many nuts does Joe have in total?<|im_end|>\n"
              "<|im_start|>assistant\n3 * 6 = 18<|im_end|>\n"
              "<|im_start|>user\n" + p.prompt_text + "<|im_end|>\n<|im_start|>assistant\n");
    EXPECT_GE(p.prompt.size(), 143u);
    EXPECT_LE(p.prompt.size(), 152u);
    const auto end = std::mismatch(shared.begin(), shared.end(), p.prompt.begin(), p.prompt.end()).first;
    shared.erase(end, shared.end());
  }
  EXPECT_EQ(shared.size(), 119u);
  EXPECT_EQ(words->demonstrations()->at(0).response.back(), 2) << "<|im_end|>";
}

}  // namespace
}  // namespace maxplus
