// The plan of the gradient sum: who has which slices, and which subtrees they leave.
#include "parallel/gradient_sync.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace maxplus {
namespace {

TEST(SlicesOfRank, CoverAllSlicesEvenlyWithTheLargerPartsFirst) {
  for (int slices : {1, 2, 4, 8, 16, 64}) {
    for (int ranks = 1; ranks <= slices; ++ranks) {
      int next = 0, previous = slices;
      for (int r = 0; r < ranks; ++r) {
        const SliceRange range = slices_of_rank(slices, r, ranks);
        EXPECT_EQ(range.first, next);
        const int size = range.last - range.first;
        EXPECT_LE(size, previous);
        EXPECT_GE(size, slices / ranks);
        EXPECT_LE(size, (slices + ranks - 1) / ranks);
        previous = size;
        next = range.last;
      }
      EXPECT_EQ(next, slices);
    }
  }
}

TEST(SubtreesOfRange, AreAlignedPowersOfTwo) {
  for (int slices : {1, 8, 32}) {
    for (int first = 0; first <= slices; ++first) {
      for (int last = first; last <= slices; ++last) {
        int next = first;
        for (const Subtree& s : subtrees_of_range({first, last})) {
          EXPECT_EQ(s.first, next);
          EXPECT_EQ(s.slices & (s.slices - 1), 0);
          EXPECT_EQ(s.first % s.slices, 0);
          next += s.slices;
        }
        EXPECT_EQ(next, last);
      }
    }
  }
}

TEST(SubtreesOfRange, OfThreeRanksAndEightSlices) {
  EXPECT_EQ(subtrees_of_range({0, 3}).size(), 2u);  // 0-1, 2
  EXPECT_EQ(subtrees_of_range({3, 6}).size(), 2u);  // 3, 4-5
  EXPECT_EQ(subtrees_of_range({6, 8}).size(), 1u);  // 6-7
}

TEST(GradientSum, PlansWithACountingArenaWhatARealOneHolds) {
  Arena plan("plan");
  const GradientSum sum(plan, 1001, 8, 1, 3);
  Arena real("real", plan.peak(), Space::host);
  const GradientSum again(real, 1001, 8, 1, 3);
  EXPECT_EQ(real.used(), real.capacity());
}

TEST(GradientSum, HoldsOneBufferMoreThanItsDeepestCounter) {
  const auto buffers = [](int slices, int rank, int ranks) {
    Arena plan("plan");
    const GradientSum sum(plan, 16, slices, rank, ranks);  // 64 bytes a buffer
    return ranks == 1 ? static_cast<int>(plan.peak() / 64) : -1;
  };
  EXPECT_EQ(buffers(1, 0, 1), 1);
  EXPECT_EQ(buffers(2, 0, 1), 2);
  EXPECT_EQ(buffers(8, 0, 1), 4);
}

TEST(GradientSum, RefusesMoreRanksThanSlicesAndOddCounts) {
  Arena plan("plan");
  EXPECT_THROW(GradientSum(plan, 10, 4, 0, 5), Error);
  EXPECT_THROW(GradientSum(plan, 10, 6, 0, 2), Error);
}

}  // namespace
}  // namespace maxplus
