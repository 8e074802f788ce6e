// Collected rollouts travel and are stored without the loss of a bit.
#include "roles/collected.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace maxplus {
namespace {

Experience of_group(std::int64_t group, std::uint32_t index) {
  Experience experience;
  experience.problem.id = 40 + group;
  experience.problem.prompt = {1, 2, 3};
  experience.rollout.id = {2, 0, static_cast<std::uint32_t>(group), index};
  experience.rollout.group = group;
  experience.rollout.token = {4, 5};
  experience.rollout.log_prob = {-0.25f, -1.5f};
  experience.rollout.version = {3, 4};
  experience.rollout.trainable = {1, 0};
  experience.assessment.reward = 0.1f;
  return experience;
}

std::vector<Collected> two_iterations() {
  std::vector<Collected> list(2);
  list[0].experiences = {of_group(0, 0), of_group(0, 1), of_group(1, 0)};
  list[0].dropped = {1, 1, 0};
  list[0].facts.iteration = 5;
  list[0].facts.groups = 2;
  list[0].facts.seconds_generation = 0.125;
  list[0].parked = {of_group(7, 0), of_group(7, 1)};
  list[0].parked[1].rollout.finish = Finish::parked;
  list[0].deferred = {12, 14};
  list[1].facts.abandoned = 1;
  return list;
}

TEST(Collected, ComesBackAsItWas) {
  const std::vector<Collected> list = two_iterations();
  const std::vector<Collected> back = unpack_collected(pack_collected(list));
  ASSERT_EQ(back.size(), 2u);
  EXPECT_EQ(pack_collected(back), pack_collected(list));
  EXPECT_EQ(back[0].facts.iteration, 5);
  EXPECT_EQ(back[0].dropped, list[0].dropped);
  EXPECT_EQ(back[0].experiences[2].rollout.version, (std::vector<std::int32_t>{3, 4}));
  ASSERT_EQ(back[0].parked.size(), 2u);
  EXPECT_EQ(back[0].parked[0].rollout.finish, Finish::stopped);
  EXPECT_EQ(back[0].parked[1].rollout.finish, Finish::parked);
  EXPECT_EQ(back[0].deferred, list[0].deferred);
  EXPECT_TRUE(back[1].deferred.empty());
  EXPECT_TRUE(back[1].abandoned());
  EXPECT_TRUE(unpack_collected({}).empty());
}

TEST(Collected, RefusesWhatEndsTooEarly) {
  const std::vector<std::byte> bytes = pack_collected(two_iterations());
  for (std::size_t size = 1; size < bytes.size(); size += 7) {
    try {
      EXPECT_EQ(unpack_collected(std::span(bytes).first(size)).size(), 1u)
          << "the first one whole, the second not there: " << size;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::protocol);
    }
  }
}

TEST(Collected, GroupsStandTogether) {
  using Pairs = std::vector<std::pair<std::size_t, std::size_t>>;
  EXPECT_EQ(groups_of(two_iterations()[0].experiences), (Pairs{{0, 2}, {2, 3}}));
  EXPECT_EQ(groups_of({}), Pairs{});
}

}  // namespace
}  // namespace maxplus
