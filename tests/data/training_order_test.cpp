// Which problem is taken when: mixes, curricula, and problems that repeat others.
#include "data/training_order.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "data/problem_mix.hpp"
#include "data/repeated_problems.hpp"

namespace maxplus {
namespace {

std::shared_ptr<const ProblemSource> listed_problems(const std::string& name, const std::vector<std::string>& prompts) {
  std::vector<Problem> problems;
  std::vector<std::string> places;
  for (const std::string& prompt : prompts) {
    Problem problem;
    problem.id = static_cast<std::int64_t>(problems.size());
    problem.prompt_text = prompt;
    problem.prompt = {static_cast<std::int32_t>(problems.size())};
    places.push_back(name + ":" + std::to_string(problems.size() + 1));
    problems.push_back(std::move(problem));
  }
  return std::make_shared<ProblemList>(name, std::move(problems), std::move(places));
}

std::shared_ptr<const ProblemSource> rated_problems(const std::vector<Json>& difficulty) {
  std::vector<Problem> problems(difficulty.size());
  for (std::size_t i = 0; i < problems.size(); ++i)
    if (!difficulty[i].is_null()) problems[i].extra["difficulty"] = difficulty[i];
  return std::make_shared<ProblemList>("rated", std::move(problems), std::vector<std::string>());
}

TEST(TrainingOrder, OfOneSourceIsTheOrderOfItsEpochs) {
  for (const Order kind : {Order::shuffled, Order::file}) {
    const TrainingOrder order(5, kind, 1, {{37, kMixBlock, {}}});
    const ProblemOrder plain(5, Purpose::problem_order, 37, kind);
    for (std::int64_t i = 0; i < 120; ++i) ASSERT_EQ(order.at(i), plain.at(i));
  }
}

TEST(TrainingOrder, GivesEverySourceItsShareOfABlock) {
  const std::vector<std::int64_t> shares = shares_of_block({3, 1, 0.5});
  EXPECT_EQ(shares, (std::vector<std::int64_t>{667, 222, 111}));
  EXPECT_EQ(shares_of_block({1, 1, 1}), (std::vector<std::int64_t>{334, 333, 333}));
  EXPECT_EQ(shares_of_block({1, 1e-5}), (std::vector<std::int64_t>{1000, 0}));
  const std::vector<std::int64_t> sizes = {50, 7, 400};
  const TrainingOrder order(1, Order::shuffled, 1, {{50, 667, {}}, {7, 222, {}}, {400, 111, {}}});
  std::vector<std::vector<std::int64_t>> taken(3);
  std::vector<int> first_block;
  for (std::int64_t i = 0; i < 3 * kMixBlock; ++i) {
    const std::int64_t index = order.at(i);
    const std::size_t part = index < 50 ? 0 : index < 57 ? 1 : 2;
    taken[part].push_back(index - (part == 0 ? 0 : part == 1 ? 50 : 57));
    if (i < kMixBlock) first_block.push_back(static_cast<int>(part));
  }
  EXPECT_EQ(std::count(first_block.begin(), first_block.end(), 1), 222);
  EXPECT_EQ(taken[0].size(), 2001u);
  EXPECT_EQ(taken[2].size(), 333u);
  // Each source has epochs of its own: every problem once before any comes again.
  for (std::size_t part = 0; part < 3; ++part) {
    const auto size = static_cast<std::size_t>(sizes[part]);
    for (std::size_t begin = 0; begin + size <= taken[part].size(); begin += size) {
      const std::set<std::int64_t> epoch(taken[part].begin() + static_cast<std::ptrdiff_t>(begin),
                                         taken[part].begin() + static_cast<std::ptrdiff_t>(begin + size));
      ASSERT_EQ(epoch.size(), size) << "source " << part;
    }
  }
  EXPECT_EQ(std::set<std::int64_t>(taken[2].begin(), taken[2].end()).size(), 333u) << "not yet through its first epoch";
  // Mixed, not one after the other: no run of the most frequent source is long (0.667^40 is 1e-7).
  int longest = 0, run = 0;
  for (const int part : first_block) longest = std::max(longest, run = part == 0 ? run + 1 : 0);
  EXPECT_LT(longest, 40);
}

TEST(TrainingOrder, ShufflesBlocksAndSeedsDifferently) {
  const auto parts_taken = [](std::uint64_t seed, std::int64_t begin) {
    const TrainingOrder order(seed, Order::file, 1, {{10, 500, {}}, {10, 500, {}}});
    std::vector<bool> first;
    for (std::int64_t i = begin; i < begin + 200; ++i) first.push_back(order.at(i) < 10);
    return first;
  };
  EXPECT_EQ(parts_taken(1, 0), parts_taken(1, 0));
  EXPECT_NE(parts_taken(1, 0), parts_taken(2, 0));
  EXPECT_NE(parts_taken(1, 0), parts_taken(1, kMixBlock));
}

TEST(Curriculum, TakesEasyProblemsFirstAndEachOnceAnEpoch) {
  std::vector<Json> difficulty;
  for (int i = 0; i < 103; ++i) difficulty.push_back((i * 37) % 103);
  const auto problems = rated_problems(difficulty);
  const TrainingOrder order(4, Order::shuffled, 10, {{103, kMixBlock, easy_first(*problems)}});
  std::vector<std::vector<int>> epochs(2);
  for (std::int64_t i = 0; i < 206; ++i) {
    const int level = difficulty[static_cast<std::size_t>(order.at(i))].get<int>();
    EXPECT_EQ(level / 10, (i % 103) / 10) << "within its window";
    epochs[static_cast<std::size_t>(i / 103)].push_back(level);
  }
  EXPECT_NE(epochs[0], epochs[1]) << "shuffled anew";
  EXPECT_FALSE(std::is_sorted(epochs[0].begin(), epochs[0].end()));
  for (auto& epoch : epochs) {
    std::sort(epoch.begin(), epoch.end());
    for (int i = 0; i < 103; ++i) ASSERT_EQ(epoch[static_cast<std::size_t>(i)], i);
  }
}

TEST(Curriculum, KeepsTheOrderOfEquals) {
  EXPECT_EQ(easy_first(*rated_problems({2, 1, 2.5, 1, -3})), (std::vector<std::int64_t>{4, 1, 3, 0, 2}));
}

TEST(Curriculum, RefusesProblemsThatDoNotSay) {
  try {
    easy_first(*rated_problems({1, nullptr, "hard", 2}));
    FAIL() << "was taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::data);
    ASSERT_EQ(error.faults().size(), 2u);
    EXPECT_EQ(error.faults()[1].where, "rated, problem 2");
  }
}

TEST(ProblemMix, SaysWhereAProblemIsFrom) {
  std::vector<Problem> own(1);
  own[0].verifier = "math";
  const auto named = std::make_shared<ProblemList>("own", own, std::vector<std::string>());
  const ProblemMix mix({{"first", listed_problems("a.jsonl", {"x", "y"}), "exact"}, {"second", named, "number"}});
  EXPECT_EQ(mix.size(), 3);
  EXPECT_EQ(mix.at(1).prompt_text, "y");
  EXPECT_EQ(mix.at(1).verifier, "exact");
  EXPECT_EQ(mix.at(1).extra[kMixSource], "first");
  EXPECT_EQ(mix.at(2).verifier, "math") << "what a problem names itself counts";
  EXPECT_EQ(mix.at(2).extra[kMixSource], "second");
  EXPECT_EQ(mix.where(1), "a.jsonl:2");
  EXPECT_THROW(mix.at(3), Error);
  const ProblemMix other({{"first", listed_problems("a.jsonl", {"x", "y"}), "number"}, {"second", named, "number"}});
  EXPECT_NE(mix.hash(), other.hash());
}

TEST(ProblemMix, TakesListsInTurn) {
  EXPECT_EQ(in_turn({3, 1, 2}), (std::vector<std::int64_t>{0, 3, 4, 1, 5, 2}));
  EXPECT_TRUE(in_turn({}).empty());
  const ProblemChoice chosen(listed_problems("a.jsonl", {"x", "y", "z"}), {2, 0});
  EXPECT_EQ(chosen.size(), 2);
  EXPECT_EQ(chosen.at(0).prompt_text, "z");
  EXPECT_EQ(chosen.where(1), "a.jsonl:1");
  EXPECT_NE(chosen.hash(), ProblemChoice(listed_problems("a.jsonl", {"x", "y", "z"}), {2, 1}).hash());
}

TEST(RepeatedProblems, AreTheSameWords) {
  const auto train =
      listed_problems("t", {"What is 1+1?", "what  is\n1+1? ", "What is 1 +1?", "other", "What is 1+1?"});
  const Repeats within = repeats_within(*train);
  EXPECT_EQ(within.index, (std::vector<std::int64_t>{1, 4}));
  EXPECT_EQ(within.first[1], std::pair(std::string("t:5"), std::string("t:1")));
  const Repeats between = repeats_between(*train, *listed_problems("h", {"new", "OTHER"}));
  EXPECT_EQ(between.index, (std::vector<std::int64_t>{3}));
  EXPECT_EQ(between.first[0], std::pair(std::string("t:4"), std::string("h:2")));
  EXPECT_TRUE(repeats_between(*listed_problems("t", {"a b"}), *listed_problems("h", {"ab"})).index.empty());
}

TEST(RepeatedProblems, KnowTokenIdsWhereThereIsNoText) {
  const auto ids = listed_problems("t", {"", "", ""});  // the ids are 0, 1, 2
  EXPECT_TRUE(repeats_within(*ids).index.empty());
  EXPECT_EQ(repeats_between(*ids, *listed_problems("h", {"", ""})).index.size(), 2u);
}

}  // namespace
}  // namespace maxplus
