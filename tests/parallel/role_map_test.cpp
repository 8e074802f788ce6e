// Which ranks have which roles, what is wrong with a request, and who gives to whom.
#include "parallel/role_map.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace maxplus {
namespace {

using Ranks = std::vector<int>;
using Request = std::optional<RankRequest>;

Request count(std::int64_t n) { return RankRequest{n, ""}; }
Request text(const std::string& t) { return RankRequest{0, t}; }

struct Placed {
  RoleMap map;
  std::vector<Fault> faults;
};

Placed place(int ranks, const Request& generator, const Request& actor) {
  std::vector<Fault> faults;
  RoleMap map = RoleMap::placed(ranks, generator, actor, &faults);
  return {map, faults};
}

void expect_roles(int ranks, const Request& generator, const Request& actor, const Ranks& generators,
                  const Ranks& actors) {
  const Placed placed = place(ranks, generator, actor);
  EXPECT_TRUE(placed.faults.empty()) << placed.faults.front().found;
  EXPECT_EQ(placed.map.generators(), generators);
  EXPECT_EQ(placed.map.actors(), actors);
}

void expect_fault(int ranks, const Request& generator, const Request& actor, const std::string& where,
                  const std::string& found) {
  const std::vector<Fault> faults = place(ranks, generator, actor).faults;
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_EQ(faults[0].where + ": " + faults[0].found, where + ": " + found);
  EXPECT_FALSE(faults[0].expected.empty());
  EXPECT_FALSE(faults[0].advice.empty());
}

TEST(RoleMap, WithoutRequestsEveryRankDoesEverything) {
  expect_roles(3, {}, {}, {0, 1, 2}, {0, 1, 2});
  EXPECT_TRUE(RoleMap::colocated(3).is_colocated());
  EXPECT_TRUE(RoleMap::colocated(3).actors_generate());
}

TEST(RoleMap, NumbersTakeTheLowestRanksThatAreFree) {
  expect_roles(3, count(2), count(1), {0, 1}, {2});
  expect_roles(5, count(2), text("0,3-4"), {1, 2}, {0, 3, 4});
  expect_roles(5, text("3-4"), count(3), {3, 4}, {0, 1, 2});
}

TEST(RoleMap, ARoleWithoutARequestGetsWhatIsLeft) {
  expect_roles(8, count(6), {}, {0, 1, 2, 3, 4, 5}, {6, 7});
  expect_roles(4, {}, text("1"), {0, 2, 3}, {1});
}

TEST(RoleMap, SharesAreRoundedTogether) {
  expect_roles(4, text("75%"), text("25%"), {0, 1, 2}, {3});
  expect_roles(3, text("50%"), text("50%"), {0}, {1, 2});
  expect_roles(2, text("25%"), text("75%"), {0}, {1});
  expect_roles(7, text("42.9%"), {}, {0, 1, 2}, {3, 4, 5, 6});
}

TEST(RoleMap, NamedRanksMayBeShared) {
  expect_roles(3, text("0-1"), text("1-2"), {0, 1}, {1, 2});
  expect_roles(2, text(" 0 , 1"), text("0-1"), {0, 1}, {0, 1});
  EXPECT_TRUE(place(2, text("0-1"), text("0-1")).map.is_colocated());
  EXPECT_FALSE(place(3, text("0-1"), text("1-2")).map.is_colocated());
  EXPECT_FALSE(place(3, text("0-1"), text("1-2")).map.actors_generate());
  EXPECT_TRUE(place(3, text("0-2"), text("1")).map.actors_generate());
}

TEST(RoleMap, PlacesActorsAmongThemselves) {
  const RoleMap map = place(5, text("0,2"), text("1,3-4")).map;
  EXPECT_EQ(map.place_among_actors(1), 0);
  EXPECT_EQ(map.place_among_actors(3), 1);
  EXPECT_EQ(map.place_among_actors(4), 2);
  EXPECT_EQ(map.place_among_actors(2), 0);
}

TEST(RoleMap, NamesEveryFault) {
  expect_fault(2, text("0-3"), text("0-1"), "generator",
               "[placement] generator = \"0-3\" names ranks 2-3, and there are 2 ranks");
  expect_fault(2, text("0-1"), text("1,2"), "actor", "[placement] actor = \"1,2\" names rank 2, and there are 2 ranks");
  for (const char* malformed :
       {"1-0", "a", "0,", "0--1", "-1", "0-1,1", "0%", "101%", "1e999%", "%", "0-99999999999999999999"})
    expect_fault(2, text(malformed), text("0-1"), "generator",
                 std::string("[placement] generator = \"") + malformed + "\" names no ranks");
  expect_fault(3, count(2), count(2), "actor", "[placement] actor = 2 asks for 2 ranks, and 1 of 3 are free");
  expect_fault(2, text("100%"), text("50%"), "actor",
               "[placement] actor = \"50%\" asks for 1 rank, and 0 of 2 are free");
  expect_fault(2, count(2), {}, "actor", "[placement] no rank is left for the actor");
  expect_fault(1, {}, count(1), "generator", "[placement] no rank is left for the generator");
  expect_fault(6, text("0-1"), text("3"), "actor", "[placement] no role uses ranks 2,4-5 of 6 ranks");
  EXPECT_EQ(place(2, text("0-9"), text("x")).faults.size(), 2u) << "all at once";
}

TEST(RankList, IsWrittenAndReadAlike) {
  EXPECT_EQ(rank_list({0, 1, 2, 5, 7, 8}), "0-2,5,7-8");
  EXPECT_EQ(rank_list({}), "");
  EXPECT_EQ(parse_rank_list("7-8,0-2,5", 9), (Ranks{0, 1, 2, 5, 7, 8}));
  EXPECT_EQ(parse_rank_list("7-9", 9), std::nullopt);
}

TEST(RelayPlan, DealsTakersToHoldersInTurn) {
  const RelayPlan plan = relay_plan({false, true, false, true, false, true});
  EXPECT_EQ(plan.takers, 3);
  EXPECT_EQ(plan.giver, (Ranks{1, 1, 3, 3, 5, 5}));
  EXPECT_EQ(plan.group, (Ranks{0, 0, 1, 1, 2, 2}));
}

TEST(RelayPlan, NobodyTakesWhereAllHold) {
  const RelayPlan plan = relay_plan({true, true});
  EXPECT_EQ(plan.takers, 0);
  EXPECT_EQ(plan.giver, (Ranks{0, 1}));
}

TEST(RelayPlan, OneHolderGivesToAll) {
  const RelayPlan plan = relay_plan({false, false, true, false});
  EXPECT_EQ(plan.takers, 3);
  EXPECT_EQ(plan.giver, (Ranks{2, 2, 2, 2}));
}

}  // namespace
}  // namespace maxplus
