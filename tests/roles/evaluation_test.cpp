// pass@k against counting, and the dealing of work to ranks.
#include "roles/evaluation.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "roles/exchange.hpp"
#include "verify/verifier.hpp"

namespace maxplus {
namespace {

constexpr double kTolerance = 1e-12;  // a product of at most eight factors in double

// The share of all choices of k out of n, the first c of which are right, that hold a right one.
double by_counting(int n, int c, int k) {
  std::vector<int> chosen(static_cast<std::size_t>(n), 0);
  std::fill(chosen.end() - k, chosen.end(), 1);
  double hits = 0, all = 0;
  do {
    bool hit = false;
    for (int i = 0; i < c; ++i) hit = hit || chosen[static_cast<std::size_t>(i)] == 1;
    hits += hit ? 1 : 0;
    all += 1;
  } while (std::next_permutation(chosen.begin(), chosen.end()));
  return hits / all;
}

TEST(PassAtK, EqualsTheShareOfChoicesThatHoldARightAnswer) {
  for (int n = 1; n <= 8; ++n) {
    for (int c = 0; c <= n; ++c) {
      for (int k = 1; k <= n; ++k)
        EXPECT_NEAR(pass_at_k(n, c, k), by_counting(n, c, k), kTolerance) << n << " " << c << " " << k;
    }
  }
}

TEST(PassAtK, RefusesMoreDrawsThanThereAre) { EXPECT_THROW(pass_at_k(3, 1, 4), Error); }

// 5 of 10 and 0 of 4, computed apart.
TEST(WilsonInterval, IsTheFormulas) {
  const auto [low, high] = wilson_interval(10, 5);
  EXPECT_NEAR(low, 0.2365931, 1e-7);
  EXPECT_NEAR(high, 0.7634069, 1e-7);
  EXPECT_EQ(wilson_interval(4, 0).first, 0.0);
  EXPECT_NEAR(wilson_interval(4, 0).second, 0.4898908, 1e-7);
  EXPECT_EQ(wilson_interval(4, 4).second, 1.0);
}

Assessment answer(const std::string& extracted, Verdict verdict) {
  Assessment a;
  a.extracted = extracted;
  a.verdict = verdict;
  return a;
}

bool majority(const std::vector<Assessment>& draws) {
  std::vector<const Assessment*> list;
  for (const Assessment& draw : draws) list.push_back(&draw);
  return majority_is_right(list);
}

TEST(Majority, IsTheMostFrequentAnswerAndTheFirstOfEqualOnes) {
  const Assessment seven = answer("7", Verdict::correct), eight = answer("8", Verdict::wrong),
                   none = answer("", Verdict::no_answer), ours = answer("8", Verdict::crashed);
  EXPECT_TRUE(majority({seven, eight, seven}));
  EXPECT_FALSE(majority({seven, eight, eight}));
  EXPECT_TRUE(majority({seven, eight}));
  EXPECT_FALSE(majority({eight, seven}));
  EXPECT_TRUE(majority({none, none, seven})) << "no answer is no vote";
  EXPECT_TRUE(majority({ours, ours, seven})) << "our faults are no votes";
  EXPECT_FALSE(majority({none, none}));
  EXPECT_FALSE(majority({}));
}

TEST(DealtToRank, GivesEveryItemToOneRankForAnyNumberOfRanks) {
  for (int ranks = 1; ranks <= 9; ++ranks) {
    for (std::int64_t count : {0, 1, 2, 7, 16}) {
      std::multiset<std::int64_t> seen;
      std::int64_t most = 0, least = count;
      for (int rank = 0; rank < ranks; ++rank) {
        const std::vector<std::int64_t> mine = dealt_to_rank(count, rank, ranks);
        seen.insert(mine.begin(), mine.end());
        most = std::max(most, static_cast<std::int64_t>(mine.size()));
        least = std::min(least, static_cast<std::int64_t>(mine.size()));
      }
      EXPECT_EQ(static_cast<std::int64_t>(seen.size()), count);
      EXPECT_EQ(static_cast<std::int64_t>(std::set<std::int64_t>(seen.begin(), seen.end()).size()), count);
      EXPECT_LE(most - least, 1);
    }
  }
}

TEST(Evaluation, TellsOfCrashesAndTheFirstReason) {
  std::vector<Experience> experiences(3);
  EXPECT_EQ(crashes_among(experiences), "");
  experiences[1].assessment = judged(Verdict::crashed, "no program");
  experiences[1].rollout.id = {1, 0, 2, 3};
  experiences[2].assessment = judged(Verdict::crashed, "another");
  EXPECT_EQ(crashes_among(experiences), "2 of 3 judgements crashed; the first (000001-00-000002-0003): no program");
}

}  // namespace
}  // namespace maxplus
