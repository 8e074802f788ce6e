#include "optim/lr_schedule.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace maxplus {
namespace {

constexpr double kTolerance = 1e-15;  // a few roundings of numbers below one

TEST(LearningRateSchedule, RisesOverTheWarmUpAndReachesThePeak) {
  const LearningRateSchedule s{0.5, ScheduleShape::constant, 4, 10, 0.0};
  EXPECT_NEAR(s.rate(1), 0.125, kTolerance);
  EXPECT_NEAR(s.rate(4), 0.5, kTolerance);
  EXPECT_NEAR(s.rate(5), 0.5, kTolerance);
  EXPECT_NEAR(s.rate(1000), 0.5, kTolerance);
}

TEST(LearningRateSchedule, FallsLinearlyToItsFinalShare) {
  const LearningRateSchedule s{1.0, ScheduleShape::linear, 0, 10, 0.2};
  EXPECT_NEAR(s.rate(1), 0.92, kTolerance);
  EXPECT_NEAR(s.rate(5), 0.6, kTolerance);
  EXPECT_NEAR(s.rate(10), 0.2, kTolerance);
  EXPECT_NEAR(s.rate(11), 0.2, kTolerance);
}

TEST(LearningRateSchedule, FallsByHalfACosine) {
  const LearningRateSchedule s{2.0, ScheduleShape::cosine, 2, 12, 0.1};
  EXPECT_NEAR(s.rate(2), 2.0, kTolerance);
  EXPECT_NEAR(s.rate(7), 2.0 * (0.1 + 0.9 * 0.5), kTolerance);
  EXPECT_NEAR(s.rate(12), 0.2, kTolerance);
  for (std::int64_t step = 3; step <= 12; ++step) EXPECT_LT(s.rate(step), s.rate(step - 1));
}

TEST(LearningRateSchedule, SurvivesAWarmUpThatFillsTheRun) {
  const LearningRateSchedule s{1.0, ScheduleShape::cosine, 10, 10, 0.3};
  EXPECT_NEAR(s.rate(10), 1.0, kTolerance);
  EXPECT_NEAR(s.rate(11), 0.3, kTolerance);
}

TEST(ScheduleShape, KnowsItsThreeWords) {
  EXPECT_EQ(schedule_shape("cosine"), ScheduleShape::cosine);
  EXPECT_EQ(schedule_shape("linear"), ScheduleShape::linear);
  EXPECT_EQ(schedule_shape("constant"), ScheduleShape::constant);
  EXPECT_FALSE(schedule_shape("Cosine").has_value());
}

}  // namespace
}  // namespace maxplus
