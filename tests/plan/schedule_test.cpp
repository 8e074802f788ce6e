// Every iteration is drawn once, in order, and with the version that the schedule promises; periods are those of the
// literature.
#include "plan/schedule.hpp"

#include <algorithm>
#include <deque>
#include <map>

#include <gtest/gtest.h>

namespace maxplus {
namespace {

using Work = Schedule::Task::Work;
using Tasks = std::vector<Schedule::Task>;

Schedule schedule_of(std::int64_t max_staleness, SharedRanks shared = SharedRanks::all) {
  return Schedule({max_staleness, Granularity::iteration, shared, Waits::world});
}

// Walks a run and returns the version that every iteration was drawn with.
std::map<std::int64_t, std::int64_t> walk(const Schedule& schedule, std::int64_t from, std::int64_t last,
                                          std::deque<std::int64_t>* waiting) {
  std::map<std::int64_t, std::int64_t> drawn_with;
  std::int64_t version = from - 1;
  for (std::int64_t iteration = from; iteration <= last; ++iteration) {
    std::int64_t drawn = waiting->empty() ? iteration - 1 : waiting->back(), in_hand = 0, handed_off = 0;
    bool closed = false;
    for (const Schedule::Task& task : schedule.step(iteration, drawn, last)) {
      EXPECT_FALSE(closed) << "the line of an iteration is its end";
      switch (task.work) {
        case Work::drawing:
          EXPECT_EQ(in_hand, 0) << "what was drawn before has changed hands";
          EXPECT_TRUE(drawn_with.emplace(task.iteration, version).second) << "each once";
          EXPECT_EQ(task.beside,
                    task.iteration == iteration + schedule.max_staleness() && schedule.max_staleness() > 0);
          in_hand = task.iteration;
          break;
        case Work::exchange:
          EXPECT_EQ(task.iteration, in_hand);
          EXPECT_EQ(task.iteration, waiting->empty() ? version + 1 : waiting->back() + 1) << "in order";
          waiting->push_back(in_hand);
          in_hand = 0;
          break;
        case Work::training:
          EXPECT_EQ(task.iteration, iteration);
          if (waiting->empty()) {
            ADD_FAILURE() << "what is trained has been drawn before";
            return drawn_with;
          }
          EXPECT_EQ(waiting->front(), iteration);
          waiting->pop_front();
          ++version;
          break;
        case Work::hand_off:
          EXPECT_EQ(in_hand, 0);
          EXPECT_EQ(version, iteration);
          handed_off = version;
          break;
        case Work::closing: closed = true; break;
      }
    }
    EXPECT_TRUE(closed && handed_off == iteration && in_hand == 0) << iteration;
    EXPECT_LE(static_cast<std::int64_t>(waiting->size()), schedule.max_staleness());
  }
  return drawn_with;
}

TEST(Schedule, DrawsEveryIterationWithItsVersionWhoeverDoesIt) {
  for (const SharedRanks shared : {SharedRanks::none, SharedRanks::generator_judges, SharedRanks::all}) {
    for (const std::int64_t staleness : {0, 1, 2, 4, 8}) {
      for (const std::int64_t last : {1, 2, 3, 7, 20}) {
        const Schedule schedule = schedule_of(staleness, shared);
        std::deque<std::int64_t> waiting;
        const auto version = walk(schedule, 1, last, &waiting);
        EXPECT_TRUE(waiting.empty()) << "nothing is drawn that is not trained";
        ASSERT_EQ(static_cast<std::int64_t>(version.size()), last);
        for (const auto& [iteration, drawn_with] : version) {
          EXPECT_EQ(drawn_with, schedule.version(iteration)) << staleness << " " << iteration;
          EXPECT_LE(iteration - 1 - drawn_with, staleness);
        }
      }
    }
  }
}

TEST(Schedule, AtStalenessZeroDrawsThenTrains) {
  for (const Granularity granularity : {Granularity::iteration, Granularity::group}) {
    const Schedule schedule({0, granularity, SharedRanks::all, Waits::world});
    EXPECT_EQ(
        schedule.step(5, 4, 9),
        (Tasks{{Work::drawing, 5}, {Work::exchange, 5}, {Work::training, 5}, {Work::hand_off, 5}, {Work::closing, 5}}));
  }
}

TEST(Schedule, AheadDrawsFirstAndHandsOverAfterTheTraining) {
  const Tasks expected = {
      {Work::drawing, 7, true}, {Work::training, 5}, {Work::exchange, 7}, {Work::hand_off, 5}, {Work::closing, 5}};
  for (const SharedRanks shared : {SharedRanks::none, SharedRanks::generator_judges, SharedRanks::all})
    EXPECT_EQ(schedule_of(2, shared).step(5, 6, 9), expected);
  EXPECT_EQ(schedule_of(2).step(8, 9, 9), (Tasks{{Work::training, 8}, {Work::hand_off, 8}, {Work::closing, 8}}))
      << "nothing is left to draw";
}

TEST(Schedule, AtItsStartDrawsWhatItWillBeAheadOf) {
  const Tasks tasks = schedule_of(2).step(1, 0, 9);
  const Tasks first = {{Work::drawing, 1}, {Work::exchange, 1}, {Work::drawing, 2}, {Work::exchange, 2}};
  ASSERT_EQ(tasks.size(), 9u);
  EXPECT_TRUE(std::equal(first.begin(), first.end(), tasks.begin()));
  EXPECT_EQ(tasks[4], (Schedule::Task{Work::drawing, 3, true}));
}

TEST(Schedule, GoesOnWhereItStoodAndFillsUpARunMadeLonger) {
  const Schedule schedule = schedule_of(3);
  std::deque<std::int64_t> waiting;
  walk(schedule, 1, 6, &waiting);
  const auto version = walk(schedule, 7, 12, &waiting);
  EXPECT_EQ(version.at(7), 6);
  EXPECT_EQ(version.at(9), 6);
  EXPECT_EQ(version.at(12), schedule.version(12));
}

TEST(Schedule, AtItsOwnPaceWaitsOnlyForWhatIsLacking) {
  ScheduleKind kind{2, Granularity::iteration, SharedRanks::generator_judges, Waits::world, Staleness::bounded};
  const Schedule schedule(kind);
  EXPECT_EQ(schedule.admitted(1, 9), 3);
  EXPECT_EQ(schedule.admitted(8, 9), 9);
  const Tasks whole = {
      {Work::drawing, 0, true}, {Work::training, 5}, {Work::exchange, 0}, {Work::hand_off, 5}, {Work::closing, 5}};
  EXPECT_EQ(schedule.step(5, 5, 9), whole);
  EXPECT_EQ(schedule.step(5, 7, 9), whole);
  Tasks lacking = {{Work::drawing, 5}, {Work::exchange, 5}};
  lacking.insert(lacking.end(), whole.begin(), whole.end());
  EXPECT_EQ(schedule.step(5, 4, 9), lacking);
  const Tasks last = {{Work::training, 9}, {Work::hand_off, 9}, {Work::closing, 9}};
  EXPECT_EQ(schedule.step(9, 9, 9), last) << "nothing is left to draw";
  kind.max_staleness = 0;
  EXPECT_EQ(
      Schedule(kind).step(5, 4, 9),
      (Tasks{{Work::drawing, 5}, {Work::exchange, 5}, {Work::training, 5}, {Work::hand_off, 5}, {Work::closing, 5}}));
}

TEST(Schedule, AtItsOwnPaceTakesTheWaitingAndTheTraining) {
  const Schedule schedule({4, Granularity::iteration, SharedRanks::generator_judges, Waits::world, Staleness::bounded});
  const auto seconds = [](double awaited, double training) {
    std::vector<double> times(kStages, 0.0);
    times[static_cast<std::size_t>(Stage::generation)] = awaited;
    times[static_cast<std::size_t>(Stage::training)] = training;
    return times;
  };
  EXPECT_DOUBLE_EQ(schedule.graph().evaluate({seconds(3, 1), seconds(0, 2), seconds(0.5, 2)}).makespan(), 8.5);
}

std::vector<double> seconds_of(double generation, double assessment, double training) {
  std::vector<double> times(kStages, 0.0);
  times[static_cast<std::size_t>(Stage::generation)] = generation;
  times[static_cast<std::size_t>(Stage::assessment)] = assessment;
  times[static_cast<std::size_t>(Stage::training)] = training;
  return times;
}

double period_of(const ScheduleKind& kind, double g, double a, double t) {
  return Schedule(kind).graph().slowest_cycle(seconds_of(g, a, t)).period;
}

// Generation, assessment and training each bind in some of them.
constexpr double kStageSeconds[][3] = {{1, 2, 4}, {4, 2, 1}, {1, 5, 2}, {3, 3, 3}, {0.1, 0.2, 7}, {6, 0, 2}};

TEST(Schedule, HasThePeriodsOfSynchronousFusedAndAsynchronousRuns) {
  constexpr Waits kMail = Waits::mailboxes;
  for (const auto& [g, a, t] : kStageSeconds) {
    EXPECT_DOUBLE_EQ(period_of({0, Granularity::iteration, SharedRanks::none, kMail}, g, a, t), g + a + t);
    EXPECT_DOUBLE_EQ(period_of({0, Granularity::group, SharedRanks::none, kMail}, g, a, t), std::max(g, a) + t);
    for (const std::int64_t eta : {1, 2, 4}) {
      const double free = static_cast<double>(1 + eta);
      EXPECT_DOUBLE_EQ(period_of({eta, Granularity::iteration, SharedRanks::none, kMail}, g, a, t),
                       std::max({g, a, t, (g + a + t) / free}));
      EXPECT_DOUBLE_EQ(period_of({eta, Granularity::iteration, SharedRanks::generator_judges, kMail}, g, a, t),
                       std::max({g + a, t, (g + a + t) / free}));
      EXPECT_DOUBLE_EQ(period_of({eta, Granularity::group, SharedRanks::none, kMail}, g, a, t),
                       std::max({g, a, t, (std::max(g, a) + t) / free}));
      EXPECT_DOUBLE_EQ(period_of({eta, Granularity::iteration, SharedRanks::all, kMail}, g, a, t), g + a + t);
    }
  }
}

TEST(Schedule, LosesNothingToWaitsForOtherRanksWhereRolesAreApart) {
  for (const auto& [g, a, t] : kStageSeconds) {
    for (const std::int64_t eta : {0, 1, 2, 4}) {
      for (const Granularity granularity : {Granularity::iteration, Granularity::group}) {
        for (const SharedRanks shared : {SharedRanks::generator_judges, SharedRanks::all}) {
          EXPECT_DOUBLE_EQ(period_of({eta, granularity, shared, Waits::world}, g, a, t),
                           period_of({eta, granularity, shared, Waits::mailboxes}, g, a, t))
              << eta << " with equal times";
        }
      }
    }
  }
  // Times that change from step to step are another matter: each step then waits for its own slowest.
  const StepTimes times = {seconds_of(4, 0, 1), seconds_of(1, 0, 4), seconds_of(4, 0, 1), seconds_of(1, 0, 4)};
  const auto makespan = [&](Waits waits) {
    return Schedule({2, Granularity::iteration, SharedRanks::generator_judges, waits})
        .graph()
        .evaluate(times)
        .makespan();
  };
  EXPECT_DOUBLE_EQ(makespan(Waits::world), 16);
  EXPECT_LT(makespan(Waits::mailboxes), 16);
}

}  // namespace
}  // namespace maxplus
