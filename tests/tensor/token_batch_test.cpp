// A batch of segments: positions go on from the parent's end.
#include "tensor/token_batch.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace maxplus {
namespace {

using Tokens = std::vector<std::int32_t>;

TEST(TokenBatch, ChildrenGoOnAfterTheirParentsLastToken) {
  TokenBatch batch;
  const std::int32_t prompt = batch.append(Tokens{10, 11, 12}, -1);
  const std::int32_t first = batch.append(Tokens{20, 21}, prompt);
  const std::int32_t second = batch.append(Tokens{30}, prompt);
  const std::int32_t deeper = batch.append(Tokens{40}, first);
  EXPECT_EQ(batch.segments(), 4);
  EXPECT_EQ(batch.tokens(), 7);
  EXPECT_EQ(batch.token, (Tokens{10, 11, 12, 20, 21, 30, 40}));
  EXPECT_EQ(batch.position, (Tokens{0, 1, 2, 3, 4, 3, 5}));
  EXPECT_EQ(batch.length(first), 2);
  EXPECT_EQ(batch.first_position(second), 3);
  EXPECT_EQ(batch.first_position(deeper), 5);
}

TEST(TokenBatch, SegmentsMayBeEmpty) {
  TokenBatch batch;
  const std::int32_t prompt = batch.append(Tokens{1, 2}, -1);
  const std::int32_t empty = batch.append(Tokens{}, prompt);
  const std::int32_t child = batch.append(Tokens{3}, empty);
  EXPECT_EQ(batch.length(empty), 0);
  EXPECT_EQ(batch.first_position(empty), 2);
  EXPECT_EQ(batch.first_position(child), 2);
  EXPECT_EQ(batch.position.back(), 2);
}

TEST(TokenBatch, AParentMustPrecedeItsChild) {
  TokenBatch batch;
  EXPECT_THROW(batch.append(Tokens{1}, 0), Error);
  EXPECT_THROW(batch.append(Tokens{1}, -2), Error);
  EXPECT_EQ(batch.segments(), 0);
}

TEST(TokenBatch, ClearLeavesAnEmptyBatch) {
  TokenBatch batch;
  batch.append(Tokens{1, 2}, -1);
  batch.clear();
  EXPECT_EQ(batch.tokens(), 0);
  EXPECT_EQ(batch.segments(), 0);
  EXPECT_EQ(batch.append(Tokens{5}, -1), 0);
  EXPECT_EQ(batch.length(0), 1);
}

}  // namespace
}  // namespace maxplus
