// Every iteration is drawn once, in order, and with the version that the schedule promises.
#include "run/pipeline.hpp"

#include <deque>
#include <map>

#include <gtest/gtest.h>

namespace maxplus {
namespace {

// Walks a run and returns the version that every iteration was drawn with.
std::map<std::int64_t, std::int64_t> walk(const Pipeline& pipeline, std::int64_t from, std::int64_t last,
                                          std::deque<std::int64_t>* waiting) {
  std::map<std::int64_t, std::int64_t> version;
  for (std::int64_t iteration = from; iteration <= last; ++iteration) {
    const std::int64_t drawn = waiting->empty() ? iteration - 1 : waiting->back();
    const Pipeline::Step step = pipeline.step(iteration, drawn, last);
    const auto take = [&](std::int64_t next) {
      EXPECT_EQ(next, waiting->empty() ? iteration : waiting->back() + 1) << "in order, each once";
      EXPECT_TRUE(version.emplace(next, iteration - 1).second);
      waiting->push_back(next);
    };
    for (const std::int64_t next : step.before) take(next);
    EXPECT_EQ(waiting->front(), iteration) << "what is trained has been drawn before";
    if (step.beside) take(*step.beside);
    EXPECT_EQ(step.beside.has_value(), pipeline.max_staleness() > 0 && iteration + pipeline.max_staleness() <= last);
    waiting->pop_front();
    EXPECT_LE(static_cast<std::int64_t>(waiting->size()), pipeline.max_staleness());
  }
  return version;
}

TEST(Pipeline, DrawsEveryIterationWithItsVersion) {
  for (const std::int64_t staleness : {0, 1, 2, 4, 8}) {
    for (const std::int64_t last : {1, 2, 3, 7, 20}) {
      const Pipeline pipeline(staleness);
      std::deque<std::int64_t> waiting;
      const auto version = walk(pipeline, 1, last, &waiting);
      EXPECT_TRUE(waiting.empty()) << "nothing is drawn that is not trained";
      ASSERT_EQ(static_cast<std::int64_t>(version.size()), last);
      for (const auto& [iteration, drawn_with] : version) {
        EXPECT_EQ(drawn_with, pipeline.version(iteration)) << staleness << " " << iteration;
        EXPECT_LE(iteration - 1 - drawn_with, staleness);
      }
    }
  }
}

TEST(Pipeline, AtStalenessZeroDrawsThenTrains) {
  const Pipeline::Step step = Pipeline(0).step(5, 4, 9);
  EXPECT_EQ(step.before, std::vector<std::int64_t>{5});
  EXPECT_FALSE(step.beside.has_value());
}

TEST(Pipeline, AtItsStartDrawsWhatItWillBeAheadOf) {
  const Pipeline::Step step = Pipeline(2).step(1, 0, 9);
  EXPECT_EQ(step.before, (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(step.beside, 3);
}

TEST(Pipeline, GoesOnWhereItStoodAndFillsUpARunMadeLonger) {
  const Pipeline pipeline(3);
  std::deque<std::int64_t> waiting;
  walk(pipeline, 1, 6, &waiting);
  const auto version = walk(pipeline, 7, 12, &waiting);
  EXPECT_EQ(version.at(7), 6);
  EXPECT_EQ(version.at(9), 6);
  EXPECT_EQ(version.at(12), pipeline.version(12));
}

}  // namespace
}  // namespace maxplus
