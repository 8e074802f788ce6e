// Rollouts that take several iterations: who goes on, how old tokens become, and which decks are refused.
#include "run/partial_rollouts.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "deck/deck.hpp"
#include "roles/collected.hpp"
#include "run/role_placement.hpp"

namespace maxplus {
namespace {

Deck deck_with(std::int64_t longest, std::int64_t budget, std::int64_t staleness) {
  Deck deck;
  deck.generation.max_new_tokens = longest;
  deck.schedule.token_budget = budget;
  deck.schedule.max_staleness = staleness;
  return deck;
}

std::vector<Fault> budget_faults(const Deck& deck) {
  std::vector<Fault> faults;
  check_token_budget(deck, faults);
  return faults;
}

TEST(PartialRollouts, TakeAsManyIterationsAsBudgetsFitTheLongestAnswer) {
  EXPECT_EQ(iterations_of_rollout(deck_with(24, 0, 0)), 1);
  EXPECT_EQ(iterations_of_rollout(deck_with(24, 24, 0)), 1);
  EXPECT_EQ(iterations_of_rollout(deck_with(24, 1000, 0)), 1);
  EXPECT_EQ(iterations_of_rollout(deck_with(24, 23, 9)), 2);
  EXPECT_EQ(iterations_of_rollout(deck_with(24, 6, 9)), 4);
  EXPECT_EQ(iterations_of_rollout(deck_with(24, 1, 30)), 24);
  EXPECT_EQ(generation_lead(deck_with(24, 6, 5)), 2);
  Deck forced = deck_with(24, 6, 5);
  forced.generation.force_length = 12;
  EXPECT_EQ(iterations_of_rollout(forced), 2);
  forced.generation.force_length_sigma = 1;
  EXPECT_EQ(iterations_of_rollout(forced), 4) << "the longest may be max_new_tokens";
}

TEST(PartialRollouts, ADeckIsRefusedWhereTokensBecomeTooOldAndTheAdviceIsTheLeastThatWorks) {
  const std::vector<Fault> faults = budget_faults(deck_with(100, 30, 1));
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_EQ(
      faults[0].found,
      "[schedule] token_budget = 30 lets a rollout of 100 tokens go on for 4 iterations: its first token would be 3 "
      "versions old, and max_staleness = 1");
  EXPECT_EQ(faults[0].expected, "max_staleness of at least 3, or a token_budget of at least 50");
  for (std::int64_t longest = 1; longest <= 24; ++longest) {
    for (std::int64_t budget = 1; budget <= 26; ++budget) {
      const std::int64_t needed = iterations_of_rollout(deck_with(longest, budget, 0)) - 1;
      for (std::int64_t staleness = 0; staleness < 5; ++staleness)
        EXPECT_EQ(budget_faults(deck_with(longest, budget, staleness)).empty(), needed <= staleness);
      const std::int64_t staleness = 2, least = (longest + staleness) / (staleness + 1);
      EXPECT_TRUE(budget_faults(deck_with(longest, least, staleness)).empty());
      EXPECT_EQ(budget_faults(deck_with(longest, least - 1, staleness)).empty(), least == 1) << "0 is no budget";
    }
  }
}

TEST(PartialRollouts, ADeckIsRefusedWhereTheyHaveNoMeaning) {
  const auto found = [](const Deck& deck) {
    const std::vector<Fault> faults = budget_faults(deck);
    return faults.size() == 1 ? faults[0].found : std::to_string(faults.size()) + " faults";
  };
  Deck resampling = deck_with(24, 24, 0), turns = resampling, answers = resampling, dapo = resampling;
  resampling.generation.zero_spread = "resample";
  EXPECT_NE(found(resampling).find("zero_spread = \"resample\""), std::string::npos);
  dapo.algorithm.name = "dapo";
  EXPECT_NE(found(dapo).find("zero_spread = \"resample\""), std::string::npos);
  turns.environment.emplace();
  EXPECT_NE(found(turns).find("[environment]"), std::string::npos);
  answers.algorithm.name = "dpo";
  EXPECT_NE(found(answers).find("answers of a file"), std::string::npos);
}

// A small world of rollouts with lengths alone.
class World {
 public:
  static constexpr std::int64_t kProblems = 3, kMembers = 2;

  World(Deck deck, std::int64_t last) : deck_(std::move(deck)), last_(last) {}

  // Draws an iteration with `version` and returns the groups that have ended.
  std::vector<Experience> draw(std::int64_t iteration, std::int32_t version) {
    std::vector<Problem> problems(static_cast<std::size_t>(kProblems) + parked_.size());
    std::vector<GenerationRequest> requests;
    for (const auto& [begin, end] : groups_of(parked_)) {
      requests.push_back(going_on_with(std::span<const Experience>(parked_).subspan(begin, end - begin),
                                       &problems[requests.size()], iteration));
    }
    for (std::uint32_t slot = 0; slot < kProblems; ++slot) {
      GenerationRequest request;
      request.problem = &problems[requests.size()];
      for (std::uint32_t k = 0; k < kMembers; ++k)
        request.ids.push_back({static_cast<std::uint32_t>(iteration), 0, slot, k});
      request.group = group_number(iteration, request.ids.front());
      requests.push_back(std::move(request));
    }
    std::set<std::int64_t> numbers;
    for (const GenerationRequest& request : requests)
      EXPECT_TRUE(numbers.insert(request.group).second) << "two groups of an iteration have one number";
    std::vector<Rollout> rollouts;
    std::vector<const Problem*> problem_of;
    for (const GenerationRequest& request : requests) {
      for (std::size_t i = 0; i < request.ids.size(); ++i) {
        Rollout rollout = request.begun.empty() ? Rollout() : request.begun[i];
        rollout.id = request.ids[i], rollout.group = request.group;
        if (request.begun.empty() || rollout.finish == Finish::parked) grow(&rollout, iteration, version);
        rollouts.push_back(std::move(rollout));
        problem_of.push_back(request.problem);
      }
    }
    const std::size_t drawn = rollouts.size();
    parked_ = set_aside_parked(&requests, &problem_of, &rollouts);
    EXPECT_EQ(rollouts.size() + parked_.size(), drawn);
    EXPECT_EQ(problem_of.size(), rollouts.size());
    EXPECT_EQ(std::ssize(requests) * kMembers, std::ssize(rollouts));
    std::vector<Experience> ended;
    for (std::size_t i = 0; i < rollouts.size(); ++i) ended.push_back({*problem_of[i], rollouts[i], {}, {}});
    return ended;
  }
  const std::vector<Experience>& parked() const { return parked_; }

 private:
  void grow(Rollout* rollout, std::int64_t iteration, std::int32_t version) const {
    const auto length = static_cast<std::size_t>(1 + (rollout->id.packed() * 2654435761u >> 13) %
                                                         static_cast<std::uint64_t>(deck_.generation.max_new_tokens));
    const bool bounded = iteration < last_ && deck_.schedule.token_budget > 0;
    const std::size_t until =
        bounded ? rollout->token.size() + static_cast<std::size_t>(deck_.schedule.token_budget) : length;
    rollout->finish = length <= until ? Finish::stopped : Finish::parked;
    rollout->token.resize(std::min(length, until));
    rollout->version.resize(rollout->token.size(), version);
  }
  Deck deck_;
  std::int64_t last_;
  std::vector<Experience> parked_;
};

TEST(PartialRollouts, AreTrainedOnOnceAndNeverTooOld) {
  for (const std::int64_t budget : {1, 3, 5, 12, 50}) {
    for (const std::int64_t lead : {0, 1, 3}) {
      for (const std::int64_t last : {1, 2, 9}) {
        Deck deck = deck_with(12, budget, 0);
        deck.schedule.max_staleness = lead + iterations_of_rollout(deck) - 1;
        ASSERT_TRUE(budget_faults(deck).empty());
        const Schedule schedule(schedule_kind(deck, RoleMap::colocated(1)));
        EXPECT_EQ(schedule.max_staleness(), lead);
        World world(deck, last);
        std::set<std::uint64_t> trained;
        std::map<std::int64_t, std::vector<Experience>> drawn;
        for (std::int64_t iteration = 1; iteration <= last; ++iteration) {
          const std::int64_t newest = drawn.empty() ? iteration - 1 : drawn.rbegin()->first;
          const auto version = static_cast<std::int32_t>(iteration - 1);
          for (const Schedule::Task& task : schedule.step(iteration, newest, last)) {
            if (task.work == Schedule::Task::Work::drawing) drawn[task.iteration] = world.draw(task.iteration, version);
          }
          for (const Experience& experience : drawn.at(iteration)) {
            EXPECT_TRUE(trained.insert(experience.rollout.id.packed()).second);
            for (const std::int32_t drawn_with : experience.rollout.version) {
              EXPECT_GE(version - drawn_with, 0);
              EXPECT_LE(version - drawn_with, deck.schedule.max_staleness);
            }
          }
          drawn.erase(iteration);
        }
        EXPECT_TRUE(world.parked().empty()) << "the last iteration lets all end";
        EXPECT_EQ(static_cast<std::int64_t>(trained.size()), last * World::kProblems * World::kMembers);
      }
    }
  }
}

TEST(PartialRollouts, AGroupThatGoesOnIsNumberedAnewAndKeepsItsMembers) {
  std::vector<Experience> group(2);
  for (std::uint32_t k = 0; k < 2; ++k) group[k].rollout.id = {4, 0, 5, k};
  group[0].rollout.token = {1, 2};
  group[0].rollout.finish = Finish::stopped;
  group[1].rollout.token = {3, 4, 5};
  group[1].rollout.finish = Finish::parked;
  const Problem problem;
  const GenerationRequest request = going_on_with(group, &problem, 6);
  EXPECT_EQ(request.group, (std::int64_t{2} << 40) | 5);
  EXPECT_EQ(group_number(4, group[0].rollout.id), 5) << "of an iteration's own: attempt and slot";
  ASSERT_EQ(request.begun.size(), 2u);
  EXPECT_EQ(request.ids[1], group[1].rollout.id);
  EXPECT_EQ(request.begun[1].token, group[1].rollout.token);
  EXPECT_EQ(request.begun[0].finish, Finish::stopped);
}

}  // namespace
}  // namespace maxplus
