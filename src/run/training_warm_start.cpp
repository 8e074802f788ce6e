// The supervised warm start of a run: stages of steps on demonstrations, each with a fresh optimizer and its own
// schedule.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"
#include "data/problem_order.hpp"
#include "optim/lr_schedule.hpp"
#include "rl/algorithms/sft.hpp"
#include "run/training_run.hpp"

namespace maxplus {

namespace {

struct StageSettings {
  double learning_rate, final_share;
  std::int64_t batch_tokens, warmup_steps;
};

StageSettings settings_of(const WarmStartTable& table, int stage) {
  StageSettings settings{table.learning_rate, table.final_share, table.batch_tokens, table.warmup_steps};
  if (stage >= 0) {
    const WarmStartStage& own = table.stage[static_cast<std::size_t>(stage)];
    settings.learning_rate = own.learning_rate.value_or(settings.learning_rate);
    settings.final_share = own.final_share.value_or(settings.final_share);
    settings.batch_tokens = own.batch_tokens.value_or(settings.batch_tokens);
    settings.warmup_steps = own.warmup_steps.value_or(settings.warmup_steps);
  }
  return settings;
}

// The first step of every stage and the end: shares of the total, rounded so that they add up.
std::vector<std::int64_t> stage_starts(const WarmStartTable& table) {
  std::vector<std::int64_t> starts{0};
  double sum = 0, all = 0;
  for (const WarmStartStage& stage : table.stage) all += stage.share;
  for (const WarmStartStage& stage : table.stage) {
    sum += stage.share;
    starts.push_back(std::llround(static_cast<double>(table.steps) * sum / all));
  }
  if (table.stage.empty()) starts.push_back(table.steps);
  return starts;
}

}  // namespace

TrainingRun::Next TrainingRun::warm_start() {
  if (state_.warm_start_done) return Next::go_on;
  if (deck_.warm_start) {
    const Trace::Span span(*trace_, "actor", "warm start", 0);
    const WarmStartTable& table = *deck_.warm_start;
    const std::vector<std::int64_t> starts = stage_starts(table);
    const Sft supervised;
    for (std::size_t s = 0; s + 1 < starts.size(); ++s) {
      if (state_.warm_step >= starts[s + 1]) continue;
      const int stage = table.stage.empty() ? -1 : static_cast<int>(s);
      std::vector<std::string> notes;
      const auto source = open_demonstrations(deck_, inputs_, stage, &notes);
      for (const std::string& note : notes) recorder_->event(note);
      if (state_.warm_step == starts[s]) {
        if (groups_->trains()) engine_->trainer().reset_optimizer();
        state_.demonstration_cursor = 0;
      }
      while (state_.warm_step < starts[s + 1]) {
        if (warm_start_step(stage, state_.warm_step - starts[s] + 1, starts[s + 1] - starts[s], *source, supervised) ==
            Next::leave) {
          return Next::leave;
        }
      }
    }
    if (groups_->trains()) engine_->trainer().reset_optimizer();
  }
  state_.warm_start_done = true;
  return Next::go_on;
}

TrainingRun::Next TrainingRun::warm_start_step(int stage, std::int64_t step_in_stage, std::int64_t steps_of_stage,
                                               const DemonstrationSource& source, const Algorithm& supervised) {
  watchdog_->beat("warm start");
  const StageSettings settings = settings_of(*deck_.warm_start, stage);
  const ProblemOrder order(static_cast<std::uint64_t>(deck_.run.seed) + static_cast<std::uint64_t>(stage + 1),
                           Purpose::warm_start_order, source.size(), Order::shuffled);
  std::vector<Experience> experiences;
  for (std::int64_t tokens = 0; tokens < settings.batch_tokens;) {
    const Demonstration demonstration = source.at(order.at(state_.demonstration_cursor++));
    tokens += static_cast<std::int64_t>(demonstration.prompt.size() + demonstration.response.size());
    experiences.push_back(experience_of_demonstration(demonstration.prompt, demonstration.response,
                                                      demonstration.weight, demonstration.number));
  }
  std::vector<const Experience*> step;
  for (const Experience& experience : experiences) step.push_back(&experience);

  LearningRateSchedule schedule;
  schedule.peak = settings.learning_rate;
  schedule.shape = *schedule_shape(deck_.warm_start->schedule);
  schedule.warmup_steps = settings.warmup_steps;
  schedule.total_steps = steps_of_stage;
  schedule.final_share = settings.final_share;
  StepRequest request;
  request.experiences = step;
  request.algorithm = &supervised;
  request.learning_rate = schedule.rate(step_in_stage);
  request.on_not_finite = deck_.run.skip_limit > 0 ? OnNotFinite::skip : OnNotFinite::stop;
  std::optional<StepReport> report;
  if (groups_->trains())
    report = engine_->trainer().step(request, groups_->actors(), [this] { watchdog_->beat("warm start"); });
  ++state_.warm_step;
  if (report) {
    handle_skipped(*report);
    recorder_->warm_start_step(*report, state_, deck_.warm_start->steps, elapsed_s());
  }
  if (stop_agreed()) {
    save();
    return Next::leave;
  }
  return Next::go_on;
}

}  // namespace maxplus
