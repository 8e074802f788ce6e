// The hand-off moves every weight once to each rank that lacks it, and notices a copy or a version that is not the
// giver's.
#include "roles/weight_sync.hpp"

#include <cstring>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "model/weight_source.hpp"
#include "roles/role_groups.hpp"
#include "tensor/arena.hpp"

namespace {
std::int64_t bytes_broadcast = 0;  // by this rank to others, as MPI was asked to
}  // namespace

namespace {

void count(int elements, MPI_Datatype type, int root, MPI_Comm comm) {
  int rank = 0, size = 0, width = 0;
  PMPI_Comm_rank(comm, &rank);
  PMPI_Comm_size(comm, &size);
  PMPI_Type_size(type, &width);
  if (rank == root) bytes_broadcast += std::int64_t{elements} * width * (size - 1);
}

}  // namespace

// The profiling interface of MPI: every broadcast of this program is counted on its way.
extern "C" int MPI_Bcast(void* data, int elements, MPI_Datatype type, int root, MPI_Comm comm) {
  count(elements, type, root, comm);
  return PMPI_Bcast(data, elements, type, root, comm);
}

extern "C" int MPI_Ibcast(void* data, int elements, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request* request) {
  count(elements, type, root, comm);
  return PMPI_Ibcast(data, elements, type, root, comm, request);
}

namespace maxplus {
namespace {

ModelConfig tiny() {
  ModelConfig config;
  config.family = "llama";
  config.vocabulary = 13;
  config.width = 8;
  config.layers = 3;
  config.heads = 2;
  config.kv_heads = 1;
  config.head_width = 4;
  config.ffn_width = 12;
  config.context = 16;
  return config;
}

struct Weights {
  Arena counted{"counted"};
  WeightSet plan{tiny(), counted};
  Arena arena{"weights", counted.peak(), Space::host}, other{"weights that arrive", counted.peak(), Space::host};
  WeightSet set{tiny(), arena}, second{tiny(), other};
};

void forget(WeightSet* weights) { std::memset(weights->all().data(), 0xFF, weights->all().bytes()); }  // NaN

// Ranks in turn: the first trains, then one that only generates, then one that does both, and so on.
RoleMap mixed_roles(int ranks) {
  std::vector<Fault> faults;
  std::vector<int> generators, actors;
  for (int r = 0; r < ranks; ++r) {
    if (r % 3 != 0 || ranks == 1) generators.push_back(r);
    if (r % 3 != 1) actors.push_back(r);
  }
  RoleMap map = RoleMap::placed(
      ranks, {.generator = RankRequest{0, rank_list(generators)}, .actor = RankRequest{0, rank_list(actors)}}, &faults);
  EXPECT_TRUE(faults.empty());
  return map;
}

Communicator checked_world() { return Communicator("world", MPI_COMM_WORLD, Communicator::Checking::on); }

// Ranks of mixed roles with weights of their own.
struct Ranks {
  explicit Ranks(bool overlaps, Communicator::Checking checking = Communicator::Checking::on)
      : world("world", MPI_COMM_WORLD, checking),
        groups(world, mixed_roles(world.size())),
        hand_off(groups.weights(), weights.set, &weights.second, overlaps) {}
  const Communicator world;
  RoleGroups groups;
  Weights weights;
  WeightHandOff hand_off;
};

// In one go, and behind the drawing.
class WeightSync : public testing::TestWithParam<bool> {};

INSTANTIATE_TEST_SUITE_P(Buffers, WeightSync, testing::Bool(),
                         [](const auto& test) { return test.param ? "Two" : "One"; });

TEST_P(WeightSync, GivesEveryRankTheWeightsOfThoseThatTrain) {
  Ranks ranks(GetParam());
  auto& [world, groups, weights, hand_off] = ranks;
  for (std::int64_t version = 0; version < 3; ++version) {
    if (groups.trains()) {
      weights.set.initialise(40 + static_cast<std::uint64_t>(version));
    } else {
      forget(&weights.set);
    }
    hand_off.finish(version);
    world.require_equal("weights", weights.set.hash());
  }
}

TEST(WeightHandOff, LeavesATakerItsWeightsUntilItAsksForTheNext) {
  Ranks ranks(true);
  auto& [world, groups, weights, hand_off] = ranks;
  weights.set.initialise(1);
  const std::string old = weights.set.hash();
  for (std::int64_t version = 1; version < 4; ++version) {
    const std::string before = weights.set.hash();
    if (!groups.trains()) hand_off.begin();  // long before there is anything
    world.barrier();
    if (groups.trains()) weights.set.initialise(40 + static_cast<std::uint64_t>(version));
    if (groups.trains()) hand_off.begin();
    const std::string mine = weights.set.hash();
    while (!hand_off.has_arrived()) {
    }
    EXPECT_EQ(weights.set.hash(), mine);
    if (!groups.trains()) {
      EXPECT_EQ(mine, before);
    }
    hand_off.finish(version);
    world.require_equal("weights", weights.set.hash());
    EXPECT_NE(weights.set.hash(), old);
  }
}

// A stop: takers have begun to listen, and those that train never came to it.
TEST(WeightHandOff, GoesOnAfterOneThatWasAbandoned) {
  Ranks ranks(true);
  auto& [world, groups, weights, hand_off] = ranks;
  weights.set.initialise(1);
  if (!groups.trains()) hand_off.begin();
  hand_off.abandon();
  if (groups.trains()) weights.set.initialise(2);
  hand_off.finish(1);
  world.require_equal("weights", weights.set.hash());
}

TEST_P(WeightSync, MovesEachByteOnceToEachRankThatLacksIt) {
  Ranks ranks(GetParam(), Communicator::Checking::off);  // checks would be counted too
  auto& [world, groups, weights, hand_off] = ranks;
  weights.set.initialise(7);
  const std::int64_t before = groups.weights().traffic().bytes_sent, before_in_mpi = bytes_broadcast;
  hand_off.begin();
  hand_off.finish(4);
  const std::int64_t moved = bytes_broadcast - before_in_mpi;
  EXPECT_EQ(moved, groups.weights().traffic().bytes_sent - before) << "what the program counts is what MPI moves";
  const std::int64_t sent = world.sum(moved);
  std::int64_t takers = 0;
  for (int r = 0; r < world.size(); ++r) takers += groups.map().trains(r) ? 0 : 1;
  constexpr std::int64_t kVersion = 8, kHashLength = 8, kHash = 32;
  const std::int64_t weight_bytes = static_cast<std::int64_t>(weights.set.all().bytes());
  EXPECT_EQ(sent, takers * (weight_bytes + kVersion + kHashLength + kHash));
}

TEST_P(WeightSync, RefusesAnotherVersion) {
  Ranks ranks(GetParam());
  auto& [world, groups, weights, hand_off] = ranks;
  weights.set.initialise(7);
  if (groups.trains()) {
    hand_off.finish(4);
  } else {
    EXPECT_THROW(hand_off.finish(5), Error);
  }
}

// A critic on the last rank takes the policy's layers, not its head, and starts its own.
TEST(WeightCopy, StartsACriticElsewhereAsOneBesideTheActor) {
  const Communicator world = checked_world();
  if (world.size() == 1) GTEST_SKIP() << "needs two ranks";
  std::vector<Fault> faults;
  const std::string last = std::to_string(world.size() - 1);
  RoleGroups groups(world, RoleMap::placed(world.size(), {.critic = RankRequest{0, last}}, &faults));
  ModelConfig valued = tiny();
  valued.token_head = false, valued.value_head = true;
  Arena counted("counted");
  const WeightSet plan(valued, counted);
  Arena arena("critic", counted.peak(), Space::host);
  WeightSet critic(valued, arena);
  Weights policy;
  policy.set.initialise(11);
  const std::int64_t before = groups.copies(Role::critic).traffic().bytes_sent;
  hand_off_copy(groups.copies(Role::critic), valued, groups.trains() ? &policy.set : nullptr,
                groups.has(Role::critic) ? &critic : nullptr, 5);
  const Parameter* const score = critic.find("score.weight");
  ASSERT_NE(score, nullptr);
  constexpr std::int64_t kHashLength = 8, kHash = 32;
  const auto layers = static_cast<std::int64_t>(critic.all().bytes() - score->weight.bytes());
  EXPECT_EQ(world.sum(groups.copies(Role::critic).traffic().bytes_sent - before), layers + kHashLength + kHash);
  if (!groups.has(Role::critic)) return;
  Arena other("expected", counted.peak(), Space::host);
  WeightSet expected(valued, other);
  copy_other_heads(Stream(1, Stream::Waiting::sleep), policy.set, expected, 5);
  EXPECT_EQ(critic.hash(), expected.hash());
}

TEST(RoleGroups, KnowTheirSizesAndWhoSpeaks) {
  const Communicator world = checked_world();
  RoleGroups groups(world, mixed_roles(world.size()));
  const auto generators = static_cast<int>(groups.map().generators().size());
  const auto actors = static_cast<int>(groups.map().actors().size());
  EXPECT_EQ(groups.generators().size(), groups.generates() ? generators : world.size() - generators);
  EXPECT_EQ(groups.actors().size(), groups.trains() ? actors : world.size() - actors);
  EXPECT_EQ(groups.speaker(), 0);
  EXPECT_EQ(groups.weights().is_needed(), world.size() > 1);
  EXPECT_EQ(groups.weights().takes(), !groups.trains());
  EXPECT_EQ(groups.rollouts().takes(), !groups.generates());
}

}  // namespace
}  // namespace maxplus
