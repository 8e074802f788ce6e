// Which ranks have which roles, what is wrong with a request, and who gives to whom.
#include "parallel/role_map.hpp"

#include <limits>
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
  RoleMap map = RoleMap::placed(ranks, {.generator = generator, .actor = actor}, &faults);
  return {map, faults};
}

Placed place(int ranks, const RoleRequests& requests) {
  std::vector<Fault> faults;
  RoleMap map = RoleMap::placed(ranks, requests, &faults);
  return {map, faults};
}

// Ranks of generator, actor, critic, reference, reward.
void expect_all(int ranks, const RoleRequests& requests, const std::vector<Ranks>& expected) {
  const Placed placed = place(ranks, requests);
  EXPECT_TRUE(placed.faults.empty()) << placed.faults.front().found;
  for (const Role role : kAllRoles)
    EXPECT_EQ(placed.map.ranks_of(role), expected[static_cast<std::size_t>(role)]) << name_of(role);
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
  EXPECT_TRUE(RoleMap::colocated(3).all_generate());
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
  EXPECT_FALSE(place(3, text("0-1"), text("1-2")).map.all_generate());
  EXPECT_TRUE(place(3, text("0-2"), text("1")).map.all_generate());
}

TEST(RoleMap, PlacesRanksAmongThoseOfARole) {
  const RoleMap map = place(5, text("0,2"), text("1,3-4")).map;
  EXPECT_EQ(map.place(Role::actor, 1), 0);
  EXPECT_EQ(map.place(Role::actor, 3), 1);
  EXPECT_EQ(map.place(Role::actor, 4), 2);
  EXPECT_EQ(map.place(Role::actor, 2), 0);
  EXPECT_EQ(map.place(Role::generator, 2), 1);
}

TEST(RoleMap, NetworksBesideThePolicyAreAtHomeUntilTheyArePlaced) {
  expect_all(3, {.generator = count(2)}, {{0, 1}, {2}, {2}, {2}, {0, 1}});
  expect_all(5, {.generator = count(1), .actor = count(1), .critic = count(1), .reference = count(1), .reward = count(1)},
             {{0}, {1}, {2}, {3}, {4}});
  expect_all(4, {.generator = text("0"), .actor = text("1"), .critic = text("2"), .reference = text("2"), .reward = text("3")},
             {{0}, {1}, {2}, {2}, {3}});
  expect_all(3, {.generator = count(1), .actor = count(2), .reference = text("1-2")}, {{0}, {1, 2}, {1, 2}, {1, 2}, {0}});
  expect_all(3, {.generator = count(1), .critic = text("2")}, {{0}, {1}, {2}, {1}, {0}});
  expect_all(8, {.generator = text("50%"), .critic = text("25%")}, {{0, 1, 2, 3}, {6, 7}, {4, 5}, {6, 7}, {0, 1, 2, 3}});
}

TEST(RoleMap, GeneratorAndActorShareWhatANetworkLeaves) {
  expect_all(3, {.critic = count(1)}, {{1, 2}, {1, 2}, {0}, {1, 2}, {1, 2}});
  expect_all(3, {.reward = text("2")}, {{0, 1}, {0, 1}, {0, 1}, {0, 1}, {2}});
  EXPECT_FALSE(place(3, {.reward = text("2")}).map.is_colocated());
  EXPECT_EQ(place(2, {.reference = text("0-1")}).faults.size(), 2u) << "neither has a rank";
}

TEST(RoleMap, KnowsWhoLearnsAndWhoIsApart) {
  const RoleMap map = place(4, {.generator = text("0-1"), .actor = text("2"), .critic = text("1,3"), .reward = text("0")}).map;
  EXPECT_FALSE(map.learns(0));
  EXPECT_TRUE(map.learns(1));
  EXPECT_TRUE(map.learns(3));
  EXPECT_FALSE(map.all_generate());
  EXPECT_TRUE(map.is_apart(Role::critic));
  EXPECT_FALSE(map.is_apart(Role::reference));
  EXPECT_TRUE(map.is_apart(Role::reward)) << "on a part of the generator's ranks";
  EXPECT_TRUE(map.waits_for_drawing(3)) << "rank 1 of the critic draws first";
  EXPECT_FALSE(map.waits_for_drawing(2));
  EXPECT_FALSE(map.waits_for_drawing(1));
}

TEST(RoleMap, NamesFaultsOfEveryRole) {
  const std::vector<Fault> faults =
      place(4, {.generator = text("0"), .actor = text("1"), .critic = text("7"), .reference = count(5), .reward = text("x")}).faults;
  ASSERT_EQ(faults.size(), 3u);
  EXPECT_EQ(faults[0].where + ": " + faults[0].found, "critic: [placement] critic = \"7\" names rank 7, and there are 4 ranks");
  EXPECT_EQ(faults[1].where + ": " + faults[1].found, "reward: [placement] reward = \"x\" names no ranks");
  EXPECT_EQ(faults[2].where + ": " + faults[2].found, "reference: [placement] reference = 5 asks for 5 ranks, and 2 of 4 are free");
  const std::vector<Fault> many = place(1, {.generator = count(2), .actor = count(1)}).faults;
  ASSERT_EQ(many.size(), 2u);
  for (const Fault& fault : many) EXPECT_NE(fault.advice.find("start 3 ranks"), std::string::npos) << fault.advice;
  EXPECT_EQ(place(3, {.generator = count(4)}).faults.size(), 1u) << "that none is left for the actor follows from it";
  for (const Fault& fault : place(3, {.generator = count(std::numeric_limits<std::int64_t>::max()), .actor = count(9)}).faults)
    EXPECT_EQ(fault.advice.find("start"), std::string::npos) << fault.advice;
  const std::vector<Fault> idle = place(4, {.generator = text("0"), .actor = text("1"), .critic = text("3")}).faults;
  ASSERT_EQ(idle.size(), 1u);
  EXPECT_EQ(idle[0].found, "[placement] no role uses rank 2 of 4 ranks");
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

TEST(RelayPlan, LeavesThoseAloneThatWantNothing) {
  const RelayPlan plan = relay_plan({false, true, false, true, false}, {true, false, false, true, true});
  EXPECT_EQ(plan.takers, 2);
  EXPECT_EQ(plan.giver, (Ranks{1, 1, 2, 3, 3}));
  EXPECT_EQ(plan.group, (Ranks{0, 0, 2, 1, 1}));
}

TEST(RelayPlan, OneHolderGivesToAll) {
  const RelayPlan plan = relay_plan({false, false, true, false});
  EXPECT_EQ(plan.takers, 3);
  EXPECT_EQ(plan.giver, (Ranks{2, 2, 2, 2}));
}

}  // namespace
}  // namespace maxplus
