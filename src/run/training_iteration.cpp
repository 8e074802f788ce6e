// One iteration's updates: scores of networks beside the policy, advantages, mini-batches.
#include <optional>
#include <type_traits>

#include <fmt/format.h>

#include "base/error.hpp"
#include "io/fault_hook.hpp"
#include "optim/lr_schedule.hpp"
#include "run/training_run.hpp"

namespace maxplus {

namespace {

LearningRateSchedule schedule_of(const OptimizerTable& table, std::int64_t iterations) {
  LearningRateSchedule schedule;
  schedule.peak = table.learning_rate;
  schedule.shape = *schedule_shape(table.schedule);
  schedule.warmup_steps = table.warmup_steps;
  schedule.total_steps = iterations * table.epochs * table.mini_batches;
  schedule.final_share = table.final_share;
  return schedule;
}

}  // namespace

// What networks beside the policy say of an iteration, then its updates, of policy and critic where they are.
TrainingRun::Trained TrainingRun::train(Collected* collected, std::int64_t iteration) {
  Trained trained;
  fault_point("training", world_.rank());
  if (options_.replay_file.empty()) require_fresh(*collected);
  const Timer scoring;
  ask_networks(collected->experiences, iteration);
  trained.seconds_scoring = scoring.seconds();
  if (!groups_->trains() && engine_->critic_trainer() == nullptr) return trained;
  const Timer training;
  std::optional<Trace::Span> span;
  if (groups_->trains()) span.emplace(*trace_, "actor", "training", iteration);
  train_on(collected, iteration, &trained);
  watchdog_->wait("end of training");
  trained.seconds_training = training.seconds();
  return trained;
}

// No token may be older than the schedule says, nor newer than what is trained.
void TrainingRun::require_fresh(const Collected& collected) const {
  for (const Experience& experience : collected.experiences) {
    const Rollout& rollout = experience.rollout;
    for (std::size_t t = 0; t < rollout.version.size(); ++t) {
      if (rollout.trainable[t] == 0) continue;
      const std::int64_t age = state_.policy_version - rollout.version[t];
      MAXPLUS_REQUIRE(age >= 0 && age <= deck_.schedule.max_staleness,
                      fmt::format("a token of version {} where version {} is trained and max_staleness is {}",
                                  rollout.version[t], state_.policy_version, deck_.schedule.max_staleness));
    }
  }
}

// The critic's own step on what the policy's step is taken on; step `number` of the schedule.
std::optional<ValueReport> TrainingRun::train_critic(const StepRequest& policy, std::int64_t number) {
  watchdog_->beat("training of the critic");
  const Trace::Span span(*trace_, "critic", "training", state_.iteration + 1);
  CriticTrainer& critic = *engine_->critic_trainer();
  StepRequest request = policy;
  request.learning_rate = schedule_of(critic.table(), deck_.run.iterations).rate(number);
  return critic.step(request, groups_->of(Role::critic), [this] { watchdog_->beat("training of the critic"); });
}

// After the policy's step, so that neither waits for the other before it has its own step behind it.
void TrainingRun::hear_of_critic(std::optional<ValueReport>* report) {
  const Relay& relay = groups_->values();
  if (relay.gives() || relay.takes()) {
    struct {
      ValueReport report;
      std::int64_t there;
    } word{report->value_or(ValueReport{}), report->has_value() ? 1 : 0};
    static_assert(std::is_trivially_copyable_v<ValueReport>);
    const Timer waiting;
    watchdog_->wait("account of the critic");
    relay.pass(&word, sizeof word);
    if (relay.takes()) {
      waited_s_ += waiting.seconds();
      report->reset();
      if (word.there != 0) *report = word.report;
    }
  }
  if (*report && (*report)->skipped && (*report)->gradient_norm != 0) {
    recorder_->warn(
        fmt::format("the critic's gradient is not finite (norm {}): step left out", (*report)->gradient_norm));
  }
}

void TrainingRun::train_on(Collected* collected, std::int64_t iteration, Trained* trained) {
  algorithm_->fill_advantages(collected->experiences);
  if (algorithm_->needs().proximal && groups_->trains()) fill_proximal(collected);
  // Whole groups are cut into mini-batches; a rollout that takes no part is left out of them.
  std::vector<std::vector<const Experience*>> groups;
  const std::vector<Experience>& experiences = collected->experiences;
  for (const auto& [begin, end] : groups_of(experiences)) {
    std::vector<const Experience*> members;
    for (std::size_t i = begin; i < end; ++i) {
      if (collected->dropped[i] == 0 && algorithm_->takes_part(experiences[i])) members.push_back(&experiences[i]);
    }
    if (!members.empty()) groups.push_back(std::move(members));
  }
  const OptimizerTable& table = deck_.optimizer;
  const LearningRateSchedule schedule = schedule_of(table, deck_.run.iterations);

  const bool value_alone = iteration <= algorithm_->value_iterations();
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
      if (engine_->critic_trainer() != nullptr) value = train_critic(request, number);
      std::optional<StepReport> report;
      if (groups_->trains() && !value_alone) {
        watchdog_->beat("training");
        report = engine_->trainer().step(request, groups_->actors(), [this] { watchdog_->beat("training"); });
      }
      if (deck_.critic && !deck_.critic->shared) hear_of_critic(&value);
      if (value) trained->values.push_back(*value);
      if (value && value_alone) recorder_->value_step(*value, iteration, state_, elapsed_s());
      if (!report) continue;
      if (value) {
        report->value = value;
      } else if (report->value) {
        trained->values.push_back(*report->value);
      }
      handle_skipped(*report);
      if (!report->skipped) ++state_.step;
      recorder_->step(*report, iteration, state_, elapsed_s());
      trained->steps.push_back(*report);
    }
  }
}

}  // namespace maxplus
