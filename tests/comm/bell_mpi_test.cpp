// A bell rings when all have pulled it, not before, round after round.
#include "comm/bell.hpp"

#include <gtest/gtest.h>

#include "comm/environment.hpp"

namespace maxplus {
namespace {

TEST(Bell, RingsWhenTheLastRankPullsAndNotBefore) {
  const Communicator world("world", MPI_COMM_WORLD, Communicator::Checking::on);
  Bell bell("bell", world);
  for (int round = 0; round < 20; ++round) {
    const int late = round % world.size();
    if (world.rank() != late) {
      EXPECT_FALSE(bell.has_rung()) << "not pulled here";
      bell.pull();
      bell.pull();
      EXPECT_FALSE(bell.has_rung()) << "rank " << late << " has not pulled";
    }
    world.barrier();  // all others have asked
    if (world.rank() == late) {
      EXPECT_FALSE(bell.has_rung());
      bell.pull();
    }
    if (round % 2 == 0) {
      while (!bell.has_rung()) {
      }
      EXPECT_TRUE(bell.has_rung()) << "it stays so until the round is settled";
    }
    bell.settle();
    EXPECT_FALSE(bell.has_rung()) << "a new round";
  }
}

TEST(Bell, SettlingPulls) {
  const Communicator world("world", MPI_COMM_WORLD, Communicator::Checking::on);
  Bell bell("bell", world);
  for (int round = 0; round < 5; ++round) bell.settle();
  EXPECT_FALSE(bell.has_rung());
}

}  // namespace
}  // namespace maxplus
