// Arrows lie inside the spans that they join, and join what the mailboxes say.
#include "run/trace_file.hpp"

#include <map>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "run/role_placement.hpp"

namespace maxplus {
namespace {

using nlohmann::json;

struct Arrow {
  int from_rank = 0, to_rank = 0;
  std::string from, to;
  std::int64_t from_iteration = 0, to_iteration = 0;
  bool operator==(const Arrow&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Arrow& a) {
  return out << a.from_rank << " " << a.from << " " << a.from_iteration << " -> " << a.to_rank << " " << a.to << " "
             << a.to_iteration;
}

json written(const std::vector<TracedRank>& ranks, const std::vector<TraceMailbox>& mailboxes) {
  std::ostringstream out;
  write_trace(out, ranks, mailboxes);
  return json::parse(out.str()).at("traceEvents");
}

// The span around an end of an arrow, as a viewer looks it up.
json span_at(const json& events, const json& end) {
  for (const json& e : events) {
    const double ts = end.at("ts");
    if (e.at("ph") == "X" && e.at("pid") == end.at("pid") && e.at("tid") == end.at("tid") && e.at("ts") <= ts &&
        ts <= e.at("ts").get<double>() + e.at("dur").get<double>())
      return e;
  }
  ADD_FAILURE() << "an arrow's end outside of every span: " << end;
  return events.at(0);
}

std::vector<Arrow> arrows_of(const json& events) {
  std::map<std::int64_t, json> starts;
  std::vector<Arrow> arrows;
  for (const json& e : events) {
    if (e.at("ph") == "s") {
      EXPECT_TRUE(starts.emplace(e.at("id"), e).second) << "numbers are used once";
    }
    if (e.at("ph") != "f") continue;
    const json start = starts.at(e.at("id"));
    EXPECT_LE(start.at("ts"), e.at("ts"));
    EXPECT_EQ(start.at("name"), e.at("name"));
    EXPECT_EQ(e.at("bp"), "e");
    const json from = span_at(events, start), to = span_at(events, e);
    arrows.push_back({start.at("pid"), e.at("pid"), from.at("name"), to.at("name"), from.at("args").at("iteration"),
                      to.at("args").at("iteration")});
  }
  EXPECT_EQ(starts.size(), arrows.size());
  return arrows;
}

std::vector<TraceMailbox> mailboxes_of(std::int64_t max_staleness, const RoleMap& map) {
  return trace_mailboxes(Schedule({max_staleness, Granularity::iteration, SharedRanks::all, Waits::world}), map);
}

constexpr std::int64_t kMs = 1000000;

TEST(TraceFile, FollowsRolloutsAndWeightsOnOneRank) {
  const TracedRank rank = {
      {{"generator", "generation"}, {"reward", "assessment"}, {"actor", "training"}, {"critic", "training"}},
      {{0, 1, 0, 2 * kMs},
       {1, 1, 2 * kMs, 3 * kMs},
       {3, 1, 4 * kMs, 5 * kMs},
       {2, 1, 3 * kMs, 6 * kMs},
       {0, 2, 7 * kMs, 7 * kMs}}};
  const json events = written({rank}, mailboxes_of(0, RoleMap::colocated(1)));
  EXPECT_EQ(arrows_of(events), (std::vector<Arrow>{{0, 0, "generation", "assessment", 1, 1},
                                                   {0, 0, "assessment", "training", 1, 1},
                                                   {0, 0, "training", "generation", 1, 2}}));
  std::map<std::string, int> tracks;
  for (const json& e : events) {
    if (e.at("name") == "thread_name") tracks[e.at("args").at("name").get<std::string>()] = e.at("tid");
  }
  EXPECT_EQ(tracks.size(), 4u);
  EXPECT_EQ(tracks.at("actor: training"), 3);
}

TEST(TraceFile, FollowsThemAcrossRanksAheadOfTraining) {
  std::vector<Fault> faults;
  const RoleMap map = RoleMap::placed(2, {.generator = RankRequest{1, ""}, .actor = RankRequest{1, ""}}, &faults);
  ASSERT_TRUE(faults.empty());
  const TracedRank generator = {{{"generator", "hand-off"}, {"generator", "generation"}, {"reward", "assessment"}},
                                {{0, 0, 0, kMs},
                                 {1, 1, kMs, 2 * kMs},
                                 {2, 1, 2 * kMs, 3 * kMs},
                                 {1, 2, 3 * kMs, 4 * kMs},
                                 {0, 1, 6 * kMs, 7 * kMs},
                                 {1, 3, 7 * kMs, 8 * kMs}}};
  const TracedRank actor = {{{"actor", "hand-off"}, {"actor", "training"}},
                            {{0, 0, 0, kMs}, {1, 1, 3 * kMs, 6 * kMs}, {0, 1, 6 * kMs, 7 * kMs}}};
  EXPECT_EQ(arrows_of(written({generator, actor}, mailboxes_of(1, map))),
            (std::vector<Arrow>{{0, 0, "generation", "assessment", 1, 1},
                                {0, 1, "assessment", "training", 1, 1},
                                {1, 0, "training", "hand-off", 1, 1},
                                {1, 1, "training", "hand-off", 1, 1},
                                {0, 0, "hand-off", "generation", 0, 1},
                                {0, 0, "hand-off", "generation", 0, 2},
                                {0, 0, "hand-off", "generation", 1, 3}}));
}

TEST(TraceFile, JoinsSpansThatOverlapAndTheRoundsOfAnIteration) {
  // Judging begins while drawing goes on; a second round follows.
  const TracedRank rank = {
      {{"generator", "generation"}, {"reward", "assessment"}},
      {{0, 1, 0, 5 * kMs}, {1, 1, 2 * kMs, 6 * kMs}, {0, 1, 6 * kMs, 9 * kMs}, {1, 1, 7 * kMs, 10 * kMs}}};
  const json events = written({rank}, mailboxes_of(0, RoleMap::colocated(1)));
  EXPECT_EQ(arrows_of(events).size(), 2u);
  std::vector<double> starts;
  for (const json& e : events) {
    if (e.at("ph") == "s") starts.push_back(e.at("ts"));
  }
  ASSERT_EQ(starts.size(), 2u);
  EXPECT_LT(starts[0], 5000) << "of the first round";
  EXPECT_GT(starts[1], 6000) << "of the second";
  EXPECT_EQ(written({TracedRank{}, TracedRank{}}, mailboxes_of(0, RoleMap::colocated(2))).size(), 2u)
      << "no spans, no arrows";
}

}  // namespace
}  // namespace maxplus
