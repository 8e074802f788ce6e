#include "run/over_provision.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "run/key_faults.hpp"

namespace maxplus {

namespace {

constexpr std::int64_t kMostMembers = 1 << 14, kMostBegun = 1 << 20, kMostBegunRollouts = 1 << 24;  // RolloutId

// A product such as 1.1 * 10 may lie a little above the whole number that is meant.
std::int64_t times(double factor, std::int64_t count) {
  return static_cast<std::int64_t>(std::ceil(factor * static_cast<double>(count) - 1e-9));
}

std::int64_t problems_begun(const Deck& deck) {
  return times(deck.schedule.over_provision_problems, deck.generation.problems_per_iteration);
}

std::int64_t rollouts_begun(const Deck& deck) {
  return times(deck.schedule.over_provision_rollouts, deck.generation.group_size);
}

}  // namespace

bool over_provides(const Deck& deck) {
  return deck.schedule.over_provision_problems > 1 || deck.schedule.over_provision_rollouts > 1;
}

void check_over_provision(const Deck& deck, std::vector<Fault>& faults) {
  if (!over_provides(deck)) return;
  const ScheduleTable& s = deck.schedule;
  const bool of_problems = s.over_provision_problems > 1;
  const std::string key = of_problems ? "over_provision_problems" : "over_provision_rollouts";
  const KeyFaults faults_of(
      deck, "schedule." + key,
      fmt::format("[schedule] {} = {}", key, of_problems ? s.over_provision_problems : s.over_provision_rollouts),
      key + " = 1", &faults);
  if (faults_of.nothing_is_drawn()) return;
  if (s.token_budget > 0) {
    faults_of.add(
        "is given together with token_budget: one lets long answers go on in the next iteration, the other draws their "
        "problems anew",
        "one of them", "token_budget = 0");
  }
  if (s.staleness == "bounded") {
    faults_of.add(
        "is given together with staleness = \"bounded\": what is begun of several iterations at once has no first ones",
        "staleness = \"exact\"", "staleness = \"exact\"");
  }
  if (s.granularity == "group") {
    faults_of.add(
        "is given together with granularity = \"group\": whether a group counts is known only when others have ended",
        "granularity = \"iteration\"", "granularity = \"iteration\"");
  }
  faults_of.not_with_environment("tokens that answer a call are not drawn, and cannot tell who is first");
  faults_of.not_with_resampling("a problem that is drawn for another would not be trained on exactly once");
  const std::int64_t problems = problems_begun(deck), members = rollouts_begun(deck);
  if (members > kMostMembers || problems > kMostBegun || problems > kMostBegunRollouts / members) {
    faults_of.add(fmt::format("begins {} problems with {} rollouts each", problems, members),
                  fmt::format("at most {} problems, {} rollouts of one and {} in all", kMostBegun, kMostMembers,
                              kMostBegunRollouts),
                  "a smaller factor");
  }
}

RoundPlan plan_round(const Deck& deck, std::int64_t left, std::int64_t listed) {
  const std::int64_t problems = deck.generation.problems_per_iteration, members = deck.generation.group_size;
  if (!over_provides(deck)) return {0, problems, members, false};
  if (listed >= problems) return {problems, 0, members, false};
  if (left <= 1 && listed > 0) return {listed, problems - listed, members, false};
  const std::int64_t trainable = std::max<std::int64_t>(1, left) * problems - listed;
  return {0, std::min(problems_begun(deck), trainable), rollouts_begun(deck), true};
}

FirstOnes first_ones(std::vector<DrawnLength> drawn, std::int64_t begun, std::int64_t problems, std::int64_t members) {
  std::sort(drawn.begin(), drawn.end(), [](const DrawnLength& a, const DrawnLength& b) {
    return std::tie(a.id.slot, a.tokens, a.id.index) < std::tie(b.id.slot, b.tokens, b.id.index);
  });
  // (tokens at which it is complete, slot, where its first member stands)
  std::vector<std::tuple<std::int64_t, std::uint32_t, std::size_t>> complete;
  for (std::size_t first = 0, last = 0; first < drawn.size(); first = last) {
    while (last < drawn.size() && drawn[last].id.slot == drawn[first].id.slot) ++last;
    if (static_cast<std::int64_t>(last - first) < members) continue;
    const DrawnLength& counts_last = drawn[first + static_cast<std::size_t>(members) - 1];
    complete.emplace_back(counts_last.tokens, counts_last.id.slot, first);
  }
  MAXPLUS_REQUIRE(std::ssize(complete) >= problems, "fewer problems are complete than are wanted");
  std::sort(complete.begin(), complete.end());
  complete.resize(static_cast<std::size_t>(problems));
  FirstOnes ones;
  std::vector<std::uint8_t> is_first(static_cast<std::size_t>(begun), 0);
  for (const auto& [tokens, slot, first] : complete) {
    is_first.at(slot) = 1;
    for (std::size_t i = first; i < first + static_cast<std::size_t>(members); ++i) ones.kept.push_back(drawn[i].id);
  }
  std::sort(ones.kept.begin(), ones.kept.end());
  for (std::int64_t slot = 0; slot < begun; ++slot) {
    if (is_first[static_cast<std::size_t>(slot)] == 0) ones.late.push_back(slot);
  }
  return ones;
}

void keep_only(const std::vector<RolloutId>& kept, std::vector<GenerationRequest>* requests,
               std::vector<const Problem*>* problem_of, std::vector<Rollout>* rollouts) {
  std::vector<GenerationRequest> left;
  std::size_t next = 0, count = 0;
  for (GenerationRequest& request : *requests) {
    std::vector<RolloutId> ids;
    for (const RolloutId& id : request.ids) {
      if (std::binary_search(kept.begin(), kept.end(), id)) {
        ids.push_back(id);
        if (count != next) (*rollouts)[count] = std::move((*rollouts)[next]);
        (*problem_of)[count++] = request.problem;
      }
      ++next;
    }
    if (ids.empty()) continue;
    request.ids = std::move(ids);
    left.push_back(std::move(request));
  }
  rollouts->resize(count);
  problem_of->resize(count);
  *requests = std::move(left);
}

}  // namespace maxplus
