// One iteration of a run: draw, judge, exchange, advantages, updates; and its records.
#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "base/error.hpp"
#include "optim/lr_schedule.hpp"
#include "roles/exchange.hpp"
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

// [begin, end) of every group in a list in rollout order.
std::vector<std::pair<std::size_t, std::size_t>> groups_of(std::span<const Experience> experiences) {
  std::vector<std::pair<std::size_t, std::size_t>> groups;
  for (std::size_t i = 0; i < experiences.size(); ++i) {
    if (i == 0 || experiences[i].rollout.group != experiences[i - 1].rollout.group) groups.push_back({i, i});
    groups.back().second = i + 1;
  }
  return groups;
}

LearningRateSchedule schedule_of(const OptimizerTable& table, std::int64_t iterations) {
  LearningRateSchedule schedule;
  schedule.peak = table.learning_rate;
  schedule.shape = *schedule_shape(table.schedule);
  schedule.warmup_steps = table.warmup_steps;
  schedule.total_steps = iterations * table.epochs * table.mini_batches;
  schedule.final_share = table.final_share;
  return schedule;
}

bool resamples(const Deck& deck) {
  return deck.generation.zero_spread == "resample" || wants_dynamic_sampling(deck.algorithm);
}

}  // namespace

TrainingRun::Collected TrainingRun::draw_and_judge(std::int64_t iteration, std::int64_t attempt,
                                                   std::int64_t first_problem, std::int64_t groups) {
  std::vector<Problem> problems;
  std::vector<GenerationRequest> requests;
  const std::vector<std::int64_t> mine = dealt_to_rank(groups, world_.rank(), world_.size());
  problems.reserve(mine.size());
  for (std::int64_t slot : mine) {
    problems.push_back(inputs_.train->at(inputs_.order->at(first_problem + slot)));
    GenerationRequest request;
    request.problem = &problems.back();
    request.group = (attempt << 32) | slot;
    for (std::int64_t k = 0; k < deck_.generation.group_size; ++k) {
      request.ids.push_back({static_cast<std::uint32_t>(iteration), static_cast<std::uint32_t>(attempt),
                             static_cast<std::uint32_t>(slot), static_cast<std::uint32_t>(k)});
    }
    requests.push_back(std::move(request));
  }

  Collected collected;
  collected.groups = groups;
  collected.problems_taken = groups;
  watchdog_->beat("generation");
  Generator& generator = engine_->generator();
  const std::int64_t drawn_before = generator.counters().tokens_generated,
                     processed_before = generator.counters().tokens_processed;
  const Timer generation;
  GenerationRule rule = generation_rule(deck_, inputs_);
  rule.version = static_cast<std::int32_t>(state_.policy_version);
  std::vector<Rollout> rollouts, greedy;
  {
    const Trace::Span span(*trace_, "generator", "generation", iteration);
    rollouts = generator.generate(requests, rule, stop_request());
    // Of the call that drew the rollouts.
    const Generator::Counters& counters = generator.counters();
    if (counters.seconds > 0) collected.tail_share = 1.0 - counters.seconds_to_ninety_percent / counters.seconds;
    if (algorithm_->needs().greedy_reward) greedy = draw_greedy(requests, rule);
  }
  collected.seconds_generation = generation.seconds();
  collected.tokens_generated = generator.counters().tokens_generated - drawn_before;
  collected.tokens_processed = generator.counters().tokens_processed - processed_before;
  const auto aborted = [](const Rollout& r) { return r.finish == Finish::aborted; };
  const bool stopped_here =
      std::any_of(rollouts.begin(), rollouts.end(), aborted) || std::any_of(greedy.begin(), greedy.end(), aborted);
  watchdog_->wait("agreement after generation");
  collected.abandoned = world_.any(stopped_here);
  if (collected.abandoned) return collected;

  watchdog_->beat("assessment");
  const Timer assessment;
  std::optional<Trace::Span> judging(std::in_place, *trace_, "reward", "assessment", iteration);
  std::vector<const Problem*> problem_of;
  for (const GenerationRequest& request : requests)
    problem_of.insert(problem_of.end(), request.ids.size(), request.problem);
  const std::vector<Assessment> assessments = judge(problem_of, rollouts);
  for (std::size_t i = 0; i < rollouts.size(); ++i) {
    collected.experiences.push_back({*problem_of[i], std::move(rollouts[i]), assessments[i], {}});
  }
  if (!greedy.empty()) fill_greedy_rewards(&collected.experiences, greedy);
  judging.reset();
  if (engine_->reference() != nullptr) {
    const Trace::Span span(*trace_, "reference", "assessment", iteration);
    fill_reference(collected.experiences);
  }
  if (engine_->critic() != nullptr) {
    const Trace::Span span(*trace_, "critic", "assessment", iteration);
    fill_values(collected.experiences);
  }
  collected.seconds_assessment = assessment.seconds();
  watchdog_->wait("exchange of experiences");
  collected.experiences = exchange_experiences(world_, collected.experiences);
  double times[3] = {collected.seconds_generation, collected.seconds_assessment, collected.tail_share};
  world_.maximum(std::span<double>(times));
  collected.seconds_generation = times[0], collected.seconds_assessment = times[1], collected.tail_share = times[2];
  std::int64_t tokens[2] = {collected.tokens_generated, collected.tokens_processed};
  world_.sum(std::span<std::int64_t>(tokens));
  collected.tokens_generated = tokens[0], collected.tokens_processed = tokens[1];
  return collected;
}

void TrainingRun::append(Collected* all, Collected more, std::int64_t groups_wanted) const {
  all->abandoned = all->abandoned || more.abandoned;
  all->problems_taken += more.problems_taken;
  all->groups += more.groups;
  all->tokens_generated += more.tokens_generated;
  all->tokens_processed += more.tokens_processed;
  all->seconds_generation += more.seconds_generation;
  all->seconds_assessment += more.seconds_assessment;
  all->tail_share = std::max(all->tail_share, more.tail_share);
  const bool keep = deck_.generation.zero_spread == "keep" && !resamples(deck_);
  std::int64_t kept = 0;
  for (std::size_t i = 0; i < all->dropped.size(); ++i) {
    const bool first_of_group = i == 0 || all->experiences[i].rollout.group != all->experiences[i - 1].rollout.group;
    if (first_of_group && !all->dropped[i]) ++kept;
  }
  for (const auto& [begin, end] : groups_of(more.experiences)) {
    const std::span<const Experience> group = std::span<const Experience>(more.experiences).subspan(begin, end - begin);
    const bool spread = has_spread(group);
    all->groups_zero_spread += spread ? 0 : 1;
    const bool drop = (!spread && !keep) || (resamples(deck_) && kept >= groups_wanted);
    if (drop) {
      ++all->groups_dropped;
      all->rollouts_dropped += static_cast<std::int64_t>(end - begin);
    } else {
      ++kept;
    }
    all->dropped.insert(all->dropped.end(), end - begin, drop);
  }
  std::move(more.experiences.begin(), more.experiences.end(), std::back_inserter(all->experiences));
}

TrainingRun::Collected TrainingRun::collect(std::int64_t iteration) {
  if (!options_.replay_file.empty()) return collect_recorded(iteration);
  if (inputs_.answers) return collect_answers(iteration);
  const std::int64_t wanted = deck_.generation.problems_per_iteration;
  const std::int64_t rounds = resamples(deck_) ? 1 + deck_.generation.resample_rounds : 1;
  Collected all;
  for (std::int64_t attempt = 0; attempt < rounds && !all.abandoned; ++attempt) {
    // Every rank holds the same list, so all agree on whether another round is needed.
    std::int64_t kept = 0;
    for (const auto& [begin, end] : groups_of(all.experiences)) kept += all.dropped[begin] ? 0 : 1;
    if (attempt > 0 && kept >= wanted) break;
    append(&all, draw_and_judge(iteration, attempt, state_.problem_cursor + all.problems_taken, wanted), wanted);
  }
  return all;
}

TrainingRun::Collected TrainingRun::collect_recorded(std::int64_t) {
  Collected collected, all;
  const auto index = static_cast<std::size_t>(state_.replay_cursor);
  if (index < recorded_.size()) collected.experiences = recorded_[index];
  collected.groups = static_cast<std::int64_t>(groups_of(collected.experiences).size());
  for (Experience& experience : collected.experiences) {
    const std::size_t length = experience.rollout.token.size();
    if (experience.rollout.version.size() != length)
      experience.rollout.version.assign(length, static_cast<std::int32_t>(state_.policy_version));
  }
  fill_missing_scores(&collected.experiences);
  append(&all, std::move(collected), collected.groups);
  return all;
}

// The critic's own step on what the policy's step is taken on; step `number` of the schedule.
std::optional<ValueReport> TrainingRun::train_critic(const StepRequest& policy, std::int64_t number) {
  watchdog_->beat("training of the critic");
  const Trace::Span span(*trace_, "critic", "training", state_.iteration + 1);
  CriticTrainer& critic = *engine_->critic_trainer();
  StepRequest request = policy;
  request.learning_rate = schedule_of(critic.table(), deck_.run.iterations).rate(number);
  std::optional<ValueReport> report =
      critic.step(request, world_, [this] { watchdog_->beat("training of the critic"); });
  if (report && report->skipped && report->gradient_norm != 0) {
    ++steps_skipped_;
    recorder_->warn(fmt::format("the critic's gradient is not finite (norm {}): step left out", report->gradient_norm));
  }
  return report;
}

std::vector<StepReport> TrainingRun::train_on(Collected* collected, std::int64_t iteration) {
  algorithm_->fill_advantages(collected->experiences);
  if (algorithm_->needs().proximal) fill_proximal(collected);
  // Whole groups are cut into mini-batches; a rollout that takes no part is left out of them.
  std::vector<std::vector<const Experience*>> groups;
  const std::vector<Experience>& experiences = collected->experiences;
  for (const auto& [begin, end] : groups_of(experiences)) {
    std::vector<const Experience*> members;
    for (std::size_t i = begin; i < end; ++i) {
      if (!collected->dropped[i] && algorithm_->takes_part(experiences[i])) members.push_back(&experiences[i]);
    }
    if (!members.empty()) groups.push_back(std::move(members));
  }
  const OptimizerTable& table = deck_.optimizer;
  const LearningRateSchedule schedule = schedule_of(table, deck_.run.iterations);

  const bool value_alone = iteration <= algorithm_->value_iterations();
  std::vector<StepReport> reports;
  for (std::int64_t epoch = 0; epoch < table.epochs; ++epoch) {
    for (std::int64_t m = 0; m < table.mini_batches; ++m) {
      const std::int64_t number =
          ((iteration - 1) * table.epochs + epoch) * table.mini_batches + m + 1;  // of the schedule
      const auto count = static_cast<std::int64_t>(groups.size());
      std::vector<const Experience*> step;
      for (std::int64_t g = count * m / table.mini_batches; g < count * (m + 1) / table.mini_batches; ++g) {
        const auto& members = groups[static_cast<std::size_t>(g)];
        step.insert(step.end(), members.begin(), members.end());
      }
      StepRequest request;
      request.experiences = step;
      request.algorithm = algorithm_.get();
      request.inverse_temperature = static_cast<float>(1.0 / deck_.generation.temperature);
      request.learning_rate = schedule.rate(number);
      request.policy_version = state_.policy_version;
      request.on_not_finite = deck_.run.skip_limit > 0 ? OnNotFinite::skip : OnNotFinite::stop;
      std::optional<ValueReport> value;
      if (engine_->critic_trainer() != nullptr) {
        value = train_critic(request, number);
        if (value) collected->values.push_back(*value);
        if (value && value_alone) recorder_->value_step(*value, iteration, state_, elapsed_s());
      }
      if (value_alone) continue;
      watchdog_->beat("training");
      std::optional<StepReport> report =
          engine_->trainer().step(request, world_, [this] { watchdog_->beat("training"); });
      if (!report) continue;
      if (value) report->value = value;
      if (engine_->critic_trainer() == nullptr && report->value) collected->values.push_back(*report->value);
      handle_skipped(*report);
      if (!report->skipped) ++state_.step;
      recorder_->step(*report, iteration, state_, elapsed_s());
      reports.push_back(*report);
    }
  }
  return reports;
}

}  // namespace maxplus
