// The closed form against a judge simulated in small steps of events.
#include "plan/fused_makespan.hpp"

#include <algorithm>
#include <limits>

#include <gtest/gtest.h>

#include "base/random.hpp"

namespace maxplus {
namespace {

// Works on what has been released, whatever it is, and waits where nothing is there.
double simulated(const std::vector<JudgedGroup>& groups, double rate) {
  std::vector<double> releases;
  for (const JudgedGroup& group : groups) releases.push_back(group.release_s);
  std::sort(releases.begin(), releases.end());
  double now = 0, end = 0, waiting = 0;
  for (std::size_t i = 0; i <= releases.size(); ++i) {
    const double until = i < releases.size() ? releases[i] : std::numeric_limits<double>::infinity();
    if (waiting > 0) end = std::min(until, now + waiting / rate);
    waiting = std::max(0.0, waiting - rate * (until - now));
    now = until;
    if (i == releases.size()) break;
    // All groups of this moment once, at its last mention.
    if (i + 1 < releases.size() && releases[i + 1] == until) continue;
    for (const JudgedGroup& group : groups) {
      if (group.release_s != until) continue;
      waiting += group.service_s;
      end = std::max(end, until);
    }
  }
  return end;
}

TEST(FusedMakespan, IsWhenASimulatedJudgeEnds) {
  constexpr double kJudgeRounding = 1e-9;
  std::uint32_t place = 0;
  const auto next = [&place] { return uniform_double(7, Purpose::test, 0, place++); };
  for (int round = 0; round < 200; ++round) {
    std::vector<JudgedGroup> groups;
    const int count = 1 + static_cast<int>(12 * next());
    const double slow = 2 * next(), rate = 0.25 + 4 * next();
    for (int i = 0; i < count; ++i) groups.push_back({next(), slow * next()});
    if (count > 3) groups[1].release_s = groups[0].release_s, groups[2].service_s = 0;
    EXPECT_NEAR(fused_makespan(groups, rate), simulated(groups, rate), kJudgeRounding) << round;
  }
}

TEST(FusedMakespan, IsBoundByTheDrawingOrByTheJudge) {
  EXPECT_DOUBLE_EQ(fused_makespan({{1, 0.5}, {3, 0.5}, {10, 0.5}}, 1), 10.5) << "a quick judge: the tail";
  EXPECT_DOUBLE_EQ(fused_makespan({{3, 8}, {1, 8}, {2, 8}}, 2), 1 + 12) << "a slow one: all of its work";
  EXPECT_DOUBLE_EQ(fused_makespan({}, 1), 0);
  EXPECT_DOUBLE_EQ(fused_makespan({{2, 0}}, 1), 2);
}

}  // namespace
}  // namespace maxplus
