// Plans of pages: every query finds every token of its path in the right slot, within the stated limits.
#include "model/page_plan.hpp"

#include <map>

#include <gtest/gtest.h>

#include "base/random.hpp"

namespace maxplus {
namespace {

TokenBatch random_trie(std::uint64_t seed, std::int32_t segments) {
  TokenBatch batch;
  for (std::int32_t s = 0; s < segments; ++s) {
    const std::vector<std::int32_t> tokens(uniform_below(40, seed, Purpose::test, static_cast<std::uint64_t>(s), 0), 1);
    const auto parent = static_cast<std::int32_t>(uniform_below(static_cast<std::uint64_t>(s) + 1, seed, Purpose::test,
                                                                static_cast<std::uint64_t>(s), 1)) -
                        1;
    batch.append(tokens, parent);
  }
  return batch;
}

// Token rows of a segment's whole path, ancestors first.
std::vector<std::int32_t> path_rows(const TokenBatch& batch, std::int32_t segment) {
  std::vector<std::int32_t> rows;
  if (segment < 0) return rows;
  rows = path_rows(batch, batch.parent[static_cast<std::size_t>(segment)]);
  for (std::int64_t i = 0; i < batch.length(segment); ++i) {
    rows.push_back(static_cast<std::int32_t>(batch.offset[static_cast<std::size_t>(segment)] + i));
  }
  return rows;
}

TEST(PagePlan, LetsEveryQueryFindItsPathInATrie) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const TokenBatch batch = random_trie(seed, 12);
    const PagePlan plan = plan_batch(batch);
    std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> row_at;
    for (std::size_t w = 0; w < plan.write.size(); w += 3) {
      const auto place = std::pair(plan.write[w + 1], plan.write[w + 2]);
      EXPECT_LT(place.first, plan.pages);
      EXPECT_TRUE(row_at.emplace(place, plan.write[w]).second) << "a slot is written twice";
    }
    std::size_t q = 0;
    for (std::int32_t s = 0; s < batch.segments(); ++s) {
      if (batch.length(s) == 0) continue;
      ASSERT_LT(q, plan.queries.size());
      const ops::QuerySegment& query = plan.queries[q];
      const std::vector<std::int32_t> rows = path_rows(batch, s);
      EXPECT_EQ(query.first_row, batch.offset[static_cast<std::size_t>(s)]);
      EXPECT_EQ(query.first_position, batch.first_position(s));
      EXPECT_EQ(plan.trie[q].first_position, batch.first_position(s));
      for (std::size_t position = 0; position < rows.size(); ++position) {
        const std::int32_t page = plan.page_table[static_cast<std::size_t>(query.first_page) + position / 16];
        EXPECT_EQ(row_at.at(std::pair(page, static_cast<std::int32_t>(position % 16))), rows[position]);
      }
      // the trie without empty segments gives the same path
      std::int64_t length = 0;
      for (auto t = static_cast<std::int32_t>(q); t >= 0; t = plan.trie[static_cast<std::size_t>(t)].parent) {
        length += plan.trie[static_cast<std::size_t>(t)].count;
      }
      EXPECT_EQ(length, static_cast<std::int64_t>(rows.size()));
      EXPECT_GE(plan.longest, length);
      ++q;
    }
    EXPECT_EQ(q, plan.queries.size());
    const PagePlanLimits limits = batch_plan_limits(batch.tokens(), batch.segments(), 1000);
    EXPECT_LE(plan.pages, limits.pages);
    EXPECT_LE(static_cast<std::int64_t>(plan.page_table.size()), limits.table);
    EXPECT_LE(static_cast<std::int64_t>(plan.write.size()), 3 * limits.writes);
  }
}

TEST(PagePlan, SharesFullPagesAndRewritesOnlyTheStraddlingOne) {
  TokenBatch batch;
  const std::int32_t prompt = batch.append(std::vector<std::int32_t>(37, 1), -1);
  for (int child = 0; child < 3; ++child)
    batch.append(std::vector<std::int32_t>(11, 1), prompt);  // exactly to position 48
  const PagePlan plan = plan_batch(batch);
  EXPECT_EQ(plan.pages, 3 + 3);  // prompt 3, a child 1
  EXPECT_EQ(plan.write.size() / 3, 37u + 3 * (5 + 11));
  EXPECT_EQ(plan.page_table.size(), 3u + 3 * 3);
}

TEST(PagePlan, OfAnEmptyBatchIsEmpty) {
  TokenBatch batch;
  batch.append({}, -1);
  batch.append({}, 0);
  const PagePlan plan = plan_batch(batch);
  EXPECT_TRUE(plan.queries.empty() && plan.trie.empty() && plan.write.empty() && plan.pages == 0);
  EXPECT_TRUE(plan_batch(TokenBatch{}).queries.empty());
}

TEST(PagePlan, AppendsToCachedSequences) {
  KvCache::Sequence a{14, {7, 3}}, b{0, {5}};
  const std::vector<std::int32_t> two{1, 2}, none, three{1, 2, 3};
  KvCache::Sequence idle{9, {8}};
  const std::vector<Transformer::Extension> extensions{{&a, two}, {&idle, none}, {&b, three}};
  const PagePlan plan = plan_extensions(extensions);
  EXPECT_EQ(plan.write, (std::vector<std::int32_t>{0, 7, 14, 1, 7, 15, 2, 5, 0, 3, 5, 1, 4, 5, 2}));
  EXPECT_EQ(plan.page_table, (std::vector<std::int32_t>{7, 5}));
  ASSERT_EQ(plan.queries.size(), 2u);
  EXPECT_EQ(plan.queries[1].first_row, 2);
  EXPECT_EQ(plan.queries[1].first_page, 1);
}

}  // namespace
}  // namespace maxplus
