// What goes into an iteration: rollouts are drawn and judged on the ranks that generate, in rounds where groups without
// spread are drawn anew, and handed to the ranks that train. Groups that go on in the next iteration are handed over as
// they are.
#include <algorithm>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "io/fault_hook.hpp"
#include "roles/exchange.hpp"
#include "roles/race.hpp"
#include "run/dispatch.hpp"
#include "run/partial_rollouts.hpp"
#include "run/training_run.hpp"

namespace maxplus {

namespace {

// Whether all rewards of the counting members of a group are equal; a group without two of them has no spread either.
bool has_spread(std::span<const Experience> group) {
  const float* first = nullptr;
  for (const Experience& experience : group) {
    if (!counts(experience.assessment.verdict)) continue;
    if (first == nullptr) first = &experience.assessment.reward;
    if (experience.assessment.reward != *first) return true;
  }
  return false;
}

bool resamples(const Deck& deck) {
  return deck.generation.zero_spread == "resample" || wants_dynamic_sampling(deck.algorithm);
}

}  // namespace

RolloutId TrainingRun::id_of(const Round& round, std::int64_t slot, std::int64_t member) const {
  std::int64_t iteration = round.iteration;
  if (is_bounded()) {
    // Problems are admitted in the run's order, of several iterations at once.
    const std::int64_t place = round.places[static_cast<std::size_t>(slot)];
    iteration = 1 + place / deck_.generation.problems_per_iteration;
    slot = place % deck_.generation.problems_per_iteration;
  }
  return {static_cast<std::uint32_t>(iteration), static_cast<std::uint32_t>(round.attempt),
          static_cast<std::uint32_t>(slot), static_cast<std::uint32_t>(member)};
}

// This rank's share of what is parked and of a round's problems, by their place in this order. Any dealing gives the
// same bits; where nothing is known of lengths those that are parked come first, with the longest way behind them.
std::vector<std::int64_t> TrainingRun::places_of_rank(const Round& round) const {
  const Communicator& ranks = groups_->generators();
  const auto parked = groups_of(parked_);
  // Where the first count, those that are expected to be longest would begin in vain.
  if (!dispatches_longest_first(deck_) || round.chooses)
    return dealt_to_rank(std::ssize(parked) + std::ssize(round.places), ranks.rank(), ranks.size());
  const std::int64_t budget = drawing_rule(round.iteration).token_budget;
  std::vector<double> work;
  for (const auto& [begin, end] : parked) {
    const double expected = lengths_.expected(parked_[begin].problem.id);
    double& tokens = work.emplace_back(0);
    for (std::size_t i = begin; i < end; ++i) {
      const Rollout& rollout = parked_[i].rollout;
      if (rollout.finish == Finish::parked) tokens += expected_tokens(expected, std::ssize(rollout.token), budget);
    }
  }
  for (const std::int64_t place : round.places) {
    const double expected = lengths_.expected(inputs_.train->at(inputs_.order->at(place)).id);
    work.push_back(static_cast<double>(round.members) * expected_tokens(expected, 0, budget));
  }
  return dealt_longest_first(work, ranks.rank(), ranks.size());
}

// What this rank is to draw; `problems` then holds its problems.
std::vector<GenerationRequest> TrainingRun::requests_of_rank(const Round& round, std::vector<Problem>* problems) const {
  const auto parked = groups_of(parked_);
  std::vector<GenerationRequest> requests;
  const std::vector<std::int64_t> mine = places_of_rank(round);
  problems->reserve(mine.size());
  for (const std::int64_t place : mine) {
    if (place < std::ssize(parked)) {
      const auto& [begin, end] = parked[static_cast<std::size_t>(place)];
      const std::span<const Experience> group = std::span<const Experience>(parked_).subspan(begin, end - begin);
      problems->push_back(group.front().problem);
      requests.push_back(going_on_with(group, &problems->back(), round.iteration));
      continue;
    }
    const std::int64_t slot = place - std::ssize(parked);
    problems->push_back(inputs_.train->at(inputs_.order->at(round.places[static_cast<std::size_t>(slot)])));
    GenerationRequest request;
    request.problem = &problems->back();
    for (std::int64_t k = 0; k < round.members; ++k) request.ids.push_back(id_of(round, slot, k));
    request.group = group_number(round.iteration, request.ids.front());
    if (round.chooses) request.wanted = deck_.generation.group_size;
    requests.push_back(std::move(request));
  }
  return requests;
}

GenerationRule TrainingRun::drawing_rule(std::int64_t iteration) const {
  GenerationRule rule = generation_rule(deck_, inputs_);
  rule.version = static_cast<std::int32_t>(state_.policy_version);
  if (iteration < iterations_in_all()) rule.token_budget = deck_.schedule.token_budget;
  return rule;
}

Collected TrainingRun::draw_and_judge(const Round& round, const StopRequest& stop) {
  const std::int64_t iteration = round.iteration;
  const Communicator& ranks = groups_->generators();
  std::vector<Problem> problems;
  std::vector<GenerationRequest> requests = requests_of_rank(round, &problems);

  Collected collected;
  Collected::Facts& facts = collected.facts;
  facts.problems_listed = round.listed;
  facts.problems_taken = std::ssize(round.places) - round.listed;
  watchdog_->beat("generation");
  Generator& generator = engine_->generator();
  const std::int64_t drawn_before = generator.counters().tokens_generated,
                     processed_before = generator.counters().tokens_processed,
                     steps_before = generator.counters().decode_steps;
  const Timer generation;
  GenerationRule rule = drawing_rule(iteration);
  std::vector<Rollout> rollouts, greedy;
  const auto aborted = [](const Rollout& r) { return r.finish == Finish::aborted; };
  bool stopped_here = false;
  std::vector<const Problem*> problem_of;
  for (const GenerationRequest& request : requests)
    problem_of.insert(problem_of.end(), request.ids.size(), request.problem);
  const bool fused = schedule_->kind().granularity == Granularity::group && assessor_ != nullptr;
  const double judged_before = assessor_ ? assessor_->busy_seconds() : 0;
  std::optional<Trace::Span> judging;
  const auto hand_over = [&](std::size_t request, std::span<const Rollout> group) {
    if (!judging) judging.emplace(*trace_, "reward", "assessment", iteration);
    const std::size_t first = request * static_cast<std::size_t>(deck_.generation.group_size);
    assessor_->add(first, std::span(problem_of).subspan(first, group.size()), group);
  };
  std::optional<Race> race;
  if (round.chooses && std::ssize(round.places) > deck_.generation.problems_per_iteration)
    race.emplace(ranks, generator, requests, deck_.generation.problems_per_iteration);
  const auto look = [&] {
    if (race) race->look();
    if (fused) assessor_->look_after();
    hand_off_->has_arrived();  // newer weights move on while MPI is asked
    return stop();
  };
  RequestDone done;
  if (fused) done = hand_over;
  if (bell_) pull_when_drawn(requests, round, &rule, &done);
  {
    const Trace::Span span(*trace_, "generator", "generation", iteration);
    rollouts = generator.generate(requests, rule, look, done);
    // Of the call that drew the rollouts.
    const Generator::Counters& counters = generator.counters();
    if (counters.seconds > 0) facts.tail_share = 1.0 - counters.seconds_to_ninety_percent / counters.seconds;
    stopped_here = std::any_of(rollouts.begin(), rollouts.end(), aborted);
    if (race) race->finish(rollouts);
    race.reset();
    if (round.chooses) {
      stopped_here = ranks.any(stopped_here);
      if (!stopped_here) keep_first(round, &requests, &problem_of, &rollouts, &collected);
    }
    collected.parked = set_aside_parked(&requests, &problem_of, &rollouts);
    rule.pause = {};
    if (algorithm_->needs().greedy_reward) greedy = draw_greedy(requests, rule, look);
  }
  facts.seconds_generation = generation.seconds();
  facts.tokens_generated = generator.counters().tokens_generated - drawn_before;
  facts.tokens_processed = generator.counters().tokens_processed - processed_before;
  facts.decode_steps = generator.counters().decode_steps - steps_before;
  stopped_here = stopped_here || std::any_of(greedy.begin(), greedy.end(), aborted);
  watchdog_->wait("agreement after generation");
  facts.abandoned = ranks.any(stopped_here) ? 1 : 0;
  if (collected.abandoned()) {
    if (fused) assessor_->drop();
    return collected;
  }

  watchdog_->beat("assessment");
  const Timer assessment;
  if (!judging) judging.emplace(*trace_, "reward", "assessment", iteration);
  const std::vector<Assessment> assessments = judge(problem_of, rollouts, fused);
  for (std::size_t i = 0; i < rollouts.size(); ++i) {
    collected.experiences.push_back({*problem_of[i], std::move(rollouts[i]), assessments[i], {}});
  }
  if (algorithm_->needs().greedy_reward) fill_greedy_rewards(&collected.experiences, greedy);
  judging.reset();
  facts.seconds_assessment = assessment.seconds();
  facts.seconds_drawing = facts.seconds_generation + facts.seconds_assessment;
  drawing_s_ += facts.seconds_drawing;
  // Beside the drawing the judge's own time counts, not the rest that is waited for.
  if (fused) facts.seconds_assessment = std::max(facts.seconds_assessment, assessor_->busy_seconds() - judged_before);
  agree_on_drawn(&collected);
  return collected;
}

// What every rank that generates drew becomes known to all of them.
void TrainingRun::agree_on_drawn(Collected* collected) const {
  const Communicator& ranks = groups_->generators();
  Collected::Facts& facts = collected->facts;
  watchdog_->wait("exchange of experiences");
  collected->experiences = exchange_experiences(ranks, collected->experiences);
  facts.groups = std::ssize(groups_of(collected->experiences));
  if (deck_.schedule.token_budget > 0 || is_bounded()) {
    collected->parked = exchange_experiences(ranks, collected->parked);
    facts.groups_parked = std::ssize(groups_of(collected->parked));
    facts.rollouts_parked =
        std::count_if(collected->parked.begin(), collected->parked.end(),
                      [](const Experience& member) { return member.rollout.finish == Finish::parked; });
  }
  double times[4] = {facts.seconds_generation, facts.seconds_assessment, facts.tail_share, facts.seconds_drawing};
  ranks.maximum(std::span<double>(times));
  facts.seconds_generation = times[0], facts.seconds_assessment = times[1], facts.tail_share = times[2];
  facts.seconds_drawing = times[3];
  std::int64_t tokens[3] = {facts.tokens_generated, facts.tokens_processed, facts.tokens_surplus};
  ranks.sum(std::span<std::int64_t>(tokens));
  facts.tokens_generated = tokens[0], facts.tokens_processed = tokens[1], facts.tokens_surplus = tokens[2];
  facts.decode_steps = ranks.maximum(facts.decode_steps);
}

void TrainingRun::append(Collected* all, Collected more, std::int64_t groups_wanted) const {
  Collected::Facts& facts = all->facts;
  facts.abandoned = std::max(facts.abandoned, more.facts.abandoned);
  facts.problems_taken += more.facts.problems_taken;
  facts.groups += more.facts.groups;
  facts.problems_listed += more.facts.problems_listed;
  facts.groups_deferred += more.facts.groups_deferred;
  facts.rollouts_surplus += more.facts.rollouts_surplus;
  facts.tokens_surplus += more.facts.tokens_surplus;
  all->deferred.insert(all->deferred.end(), more.deferred.begin(), more.deferred.end());
  facts.groups_parked += more.facts.groups_parked;
  facts.rollouts_parked += more.facts.rollouts_parked;
  std::move(more.parked.begin(), more.parked.end(), std::back_inserter(all->parked));
  facts.tokens_generated += more.facts.tokens_generated;
  facts.tokens_processed += more.facts.tokens_processed;
  facts.decode_steps += more.facts.decode_steps;
  facts.seconds_generation += more.facts.seconds_generation;
  facts.seconds_assessment += more.facts.seconds_assessment;
  facts.seconds_drawing += more.facts.seconds_drawing;
  facts.tail_share = std::max(facts.tail_share, more.facts.tail_share);
  const bool keep = deck_.generation.zero_spread == "keep" && !resamples(deck_);
  std::int64_t kept = 0;
  for (std::size_t i = 0; i < all->dropped.size(); ++i) {
    const bool first_of_group = i == 0 || all->experiences[i].rollout.group != all->experiences[i - 1].rollout.group;
    if (first_of_group && all->dropped[i] == 0) ++kept;
  }
  for (const auto& [begin, end] : groups_of(more.experiences)) {
    const std::span<const Experience> group = std::span<const Experience>(more.experiences).subspan(begin, end - begin);
    const bool spread = has_spread(group);
    facts.groups_zero_spread += spread ? 0 : 1;
    const bool drop = (!spread && !keep) || (resamples(deck_) && kept >= groups_wanted);
    if (drop) {
      ++facts.groups_dropped;
      facts.rollouts_dropped += static_cast<std::int64_t>(end - begin);
    } else {
      ++kept;
    }
    all->dropped.insert(all->dropped.end(), end - begin, drop ? 1 : 0);
  }
  std::move(more.experiences.begin(), more.experiences.end(), std::back_inserter(all->experiences));
}

Collected TrainingRun::collect(std::int64_t iteration, const StopRequest& stop) {
  if (!options_.replay_file.empty()) return collect_recorded();
  if (inputs_.answers) return collect_answers(iteration);
  if (is_bounded()) return collect_bounded(iteration, stop);
  const std::int64_t wanted = deck_.generation.problems_per_iteration;
  const std::int64_t rounds = resamples(deck_) ? 1 + deck_.generation.resample_rounds : 1;
  Collected all;
  for (std::int64_t attempt = 0; attempt < rounds && !all.abandoned(); ++attempt) {
    // Every rank that generates holds the same list, so all agree on whether another round is needed.
    std::int64_t kept = 0;
    for (const auto& [begin, end] : groups_of(all.experiences)) kept += all.dropped[begin] == 0 ? 1 : 0;
    if (attempt > 0 && kept >= wanted) break;
    append(&all, draw_and_judge(round_of(iteration, attempt, all.facts.problems_taken), stop), wanted);
  }
  return all;
}

Collected TrainingRun::collect_recorded() {
  Collected collected, all;
  const auto index = static_cast<std::size_t>(state_.replay_cursor);
  if (index < recorded_.size()) collected.experiences = recorded_[index];
  collected.facts.groups = std::ssize(groups_of(collected.experiences));
  for (Experience& experience : collected.experiences) {
    const std::size_t length = experience.rollout.token.size();
    if (experience.rollout.version.size() != length)
      experience.rollout.version.assign(length, static_cast<std::int32_t>(state_.policy_version));
  }
  fill_missing_scores(&collected.experiences);
  const std::int64_t groups = collected.facts.groups;
  append(&all, std::move(collected), groups);
  return all;
}

Collected TrainingRun::draw(std::int64_t iteration, const StopRequest& stop) {
  Collected collected;
  if (groups_->generates()) {
    fault_point("generation", world_.rank());
    collected = collect(iteration, stop);
    if (scores_elsewhere()) end_asking_for_scores();
  } else if (groups_->has(Role::reward) && scores_elsewhere()) {
    serve_scores();
  }
  collected.facts.iteration = iteration;
  return collected;
}

bool TrainingRun::take_in(Collected collected, Spent* spent) {
  const Relay& relay = groups_->rollouts();
  if (relay.gives() || relay.takes()) {
    watchdog_->wait("rollouts from the generator");
    fault_point("exchange", world_.rank());
    std::vector<std::byte> bytes;
    if (relay.gives()) bytes = pack_collected({&collected, 1});
    relay.pass(&bytes);
    if (relay.takes()) collected = std::move(unpack_collected(bytes).front());
  }
  if (collected.abandoned()) return false;
  move_on(collected);
  spent->seconds_generation += collected.facts.seconds_generation;
  spent->seconds_assessment += collected.facts.seconds_assessment;
  spent->seconds_drawing += collected.facts.seconds_drawing;
  spent->tokens_drawn += collected.facts.tokens_generated;
  parked_ = std::exchange(collected.parked, {});
  if (dispatches_longest_first(deck_)) lengths_.add(collected.experiences);
  if (is_bounded()) {
    deal_out(std::move(collected));
    return true;
  }
  if (!groups_->learns()) collected.experiences.clear(), collected.dropped.clear();
  waiting_.push_back(std::move(collected));
  return true;
}

}  // namespace maxplus
