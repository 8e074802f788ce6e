// A run from start to end: opening, the loop, evaluation, checkpoints. Warm start and iteration have files of their
// own.
#include "run/training_run.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "base/error.hpp"
#include "deck/deck.hpp"
#include "io/safetensors.hpp"
#include "ops/elementwise.hpp"
#include "run/machine.hpp"
#include "run/replay_file.hpp"

namespace maxplus {

namespace {

void require_greedy_rewards(const std::vector<std::vector<Experience>>& recorded, const std::string& file) {
  for (const std::vector<Experience>& iteration : recorded) {
    for (const Experience& e : iteration) {
      if (e.assessment.greedy_reward) return;
    }
  }
  throw Error(ExitCode::data,
              Fault{file, "no rollout has a \"greedy_reward\", with which the algorithm compares rewards",
                    "\"greedy_reward\": the reward of the greedy answer to the problem",
                    "rollouts that were recorded with the same algorithm"});
}

double maximum_of(const Communicator& ranks, double value) {
  ranks.maximum(std::span<double>(&value, 1));
  return value;
}

}  // namespace

GenerationRule generation_rule(const Deck& deck, const RunInputs& inputs) {
  GenerationRule rule;
  rule.sampling.inverse_temperature = static_cast<float>(1.0 / deck.generation.temperature);
  rule.sampling.top_k = static_cast<std::int32_t>(deck.generation.top_k);
  rule.sampling.top_p = static_cast<float>(deck.generation.top_p);
  rule.max_new_tokens = deck.generation.max_new_tokens;
  rule.force_length = deck.generation.force_length;
  rule.stop = inputs.stop;
  rule.environment = inputs.environment.get();
  rule.tokenizer = inputs.model.tokenizer.get();
  rule.seed = static_cast<std::uint64_t>(deck.run.seed);
  rule.purpose = Purpose::sampling;
  return rule;
}

EvaluationRequest evaluation_request(const Deck& deck, const RunInputs& inputs, std::uint32_t iteration) {
  EvaluationRequest request;
  request.problems = inputs.held_out;
  request.iteration = iteration;
  request.token_budgets = deck.eval.token_budgets;
  GenerationRule rule = generation_rule(deck, inputs);
  rule.purpose = Purpose::evaluation;
  rule.force_length = 0;
  rule.sampling.top_k = 0;
  rule.sampling.top_p = 1;
  if (deck.eval.max_new_tokens > 0) rule.max_new_tokens = deck.eval.max_new_tokens;
  request.greedy = rule;
  request.greedy.sampling.greedy = true;
  request.greedy.sampling.inverse_temperature = 1;
  if (deck.eval.samples > 0) {
    request.samples = deck.eval.samples;
    request.sampled = rule;
    request.sampled->sampling.inverse_temperature = static_cast<float>(1.0 / deck.eval.temperature);
  }
  return request;
}

TrainingRun::TrainingRun(Deck deck, const MpiEnvironment& mpi, const Communicator& world, TrainingOptions options)
    : deck_(std::move(deck)),
      world_(world),
      mpi_(mpi),
      options_(std::move(options)),
      wall_(deck_.run.wall_limit_min, options_.scheduler_seconds_left) {}

TrainingRun::~TrainingRun() = default;

ExitCode TrainingRun::run() {
  world_.require_equal("the deck", deck_record(deck_).dump());
  algorithm_ = make_algorithm(deck_.algorithm, deck_.generation.max_new_tokens);
  const bool replays = !options_.replay_file.empty();
  inputs_ = open_inputs(deck_, replays ? InputsFor::replay : InputsFor::training, options_.broker);
  if (replays) {
    recorded_ =
        read_recorded_iterations(options_.replay_file, {inputs_.model.config.vocabulary, inputs_.model.config.context});
    for (const std::vector<Experience>& iteration : recorded_) {
      for (const Experience& e : iteration) {
        inputs_.longest_recorded = std::max(
            inputs_.longest_recorded, static_cast<std::int64_t>(e.problem.prompt.size() + e.rollout.token.size()));
      }
    }
    if (algorithm_->needs().greedy_reward) require_greedy_rewards(recorded_, options_.replay_file);
  }
  EngineShape shape = engine_shape(deck_, inputs_);
  shape.arithmetic = common_arithmetic(deck_.model.compute, world_);
  const MemoryPlan plan = Engine::plan(shape, world_.rank(), world_.size());
  require_memory(plan, mpi_.ranks_on_node(), world_);

  recorder_ = std::make_unique<Recorder>(deck_, inputs_, world_, options_.recorder);
  watchdog_ = std::make_unique<Watchdog>(world_, deck_.run.watchdog_s, recorder_->log_path());
  trace_ = std::make_unique<Trace>(world_);
  baseline_bytes_ = resident_bytes();
  engine_ = std::make_unique<Engine>(shape, world_.rank(), world_.size(), waiting_for(mpi_, shape.threads));
  if (inputs_.reward)
    assessor_ = std::make_unique<Assessor>(inputs_.reward, deck_.reward.workers, deck_.reward.timeout_s,
                                           inputs_.model.tokenizer);
  if (inputs_.evaluation_reward) {
    evaluation_assessor_ = std::make_unique<Assessor>(inputs_.evaluation_reward, deck_.reward.workers,
                                                      deck_.reward.timeout_s, inputs_.model.tokenizer);
  }
  if (!options_.gradients_file.empty()) write_first_gradient();
  resume_or_start();
  if (deck_.run.iterations > 0 && algorithm_->value_iterations() >= deck_.run.iterations) {
    recorder_->warn(
        fmt::format("the policy will not move: only the critic learns in the first {} iterations, and there "
                    "are {} ([algorithm] value_iterations)",
                    algorithm_->value_iterations(), deck_.run.iterations));
  }

  const std::int64_t iterations = iterations_in_all();
  const std::int64_t last = deck_.run.stop_after > 0 ? std::min(iterations, deck_.run.stop_after) : iterations;
  Next next = Next::go_on;
  if (state_.iteration < last || !state_.start_recorded || !state_.pending_row.is_null()) {
    next = warm_start();
    if (next == Next::go_on) next = begin_loop();
    while (next == Next::go_on && state_.iteration < last) next = iterate();
    if (next == Next::go_on) save();
  }
  Recorder::Ending ending = Recorder::Ending::stopped;
  if (next == Next::go_on)
    ending = state_.iteration >= iterations ? Recorder::Ending::finished : Recorder::Ending::paused;
  trace_->write(recorder_->folder() + "/trace.json", world_);
  recorder_->finish(state_, elapsed_s(), ending, stop_reason_);
  return next == Next::go_on ? ExitCode::ok : ExitCode::temporary;
}

std::int64_t TrainingRun::iterations_in_all() const {
  if (options_.replay_file.empty()) return deck_.run.iterations;
  return std::min(deck_.run.iterations, static_cast<std::int64_t>(recorded_.size()));
}

void TrainingRun::resume_or_start() {
  watchdog_->beat("start");
  const std::optional<std::string> checkpoint = recorder_->checkpoint_to_resume();
  if (checkpoint) {
    state_ = load_run_checkpoint(*checkpoint, deck_, inputs_, *engine_, world_);
    elapsed_before_s_ = state_.elapsed_s;
    ++state_.restarts;
    saved_ = true;
    if (engine_->reference() != nullptr && state_.start_recorded) load_reference();
  } else {
    const auto seed = static_cast<std::uint64_t>(deck_.run.seed);
    load_into(inputs_.model, engine_->weights(), seed);
    if (inputs_.critic && engine_->critic_weights() != nullptr)
      load_into(*inputs_.critic, *engine_->critic_weights(), seed);
  }
  if (inputs_.reward_model) load_reward_model();
  if (state_.kl_coefficient > 0) algorithm_->set_kl_coefficient(state_.kl_coefficient);
  engine_->policy().pack_weights();
  if (engine_->critic_weights() != nullptr) engine_->critic()->pack_weights();
  recorder_->begin_files(state_, *engine_, baseline_bytes_, *algorithm_);
}

// The gradient of the first step of the loop under the published names, before clipping.
void TrainingRun::write_first_gradient() {
  const std::string path = options_.gradients_file;
  engine_->trainer().on_gradient([this, path](TensorView gradient) {
    if (!state_.warm_start_done || gradient_written_) return;
    gradient_written_ = true;
    if (world_.rank() != 0) return;
    std::vector<SafetensorsTensor> tensors;
    for (const Parameter& parameter : engine_->weights().parameters()) {
      const std::int64_t offset = parameter.weight.as<float>() - engine_->weights().all().as<float>();
      tensors.push_back({parameter.name,
                         TensorView(gradient.as<float>() + offset, DType::f32, Space::host, parameter.global_extents)});
    }
    write_safetensors(path, std::move(tensors), {{"content", "dL/dw of the first step, before clipping"}});
  });
}

TrainingRun::Next TrainingRun::begin_loop() {
  if (engine_->reference() != nullptr && state_.iteration == 0 && !state_.start_recorded) {
    if (deck_.reference->path == "policy")
      copy_other_heads(engine_->stream(), engine_->weights(), *engine_->reference_weights(), 0);
    load_reference();
  }
  const bool at_start = state_.iteration == 0 && !state_.start_recorded;
  if (engine_->critic_weights() != nullptr && at_start && deck_.critic->path == "policy") {
    copy_other_heads(engine_->stream(), engine_->weights(), *engine_->critic_weights(),
                     static_cast<std::uint64_t>(deck_.run.seed));
    engine_->critic()->pack_weights();
  }
  if (!state_.pending_row.is_null()) return finish_iteration(MetricsRow::from_json(state_.pending_row));
  if (state_.start_recorded) return Next::go_on;
  MetricsRow row;
  row.set("iteration", std::int64_t{0});
  row.set("policy_version", std::int64_t{0});
  row.set("step", std::int64_t{0});
  return finish_iteration(std::move(row));
}

TrainingRun::Next TrainingRun::iterate() {
  const Timer timer;
  const double talked_before = world_.traffic().seconds;
  const std::int64_t iteration = state_.iteration + 1;
  Collected collected = collect(iteration);
  if (collected.abandoned) {
    stop_reason_ = "asked to stop";
    save();
    return Next::leave;
  }
  const Timer training;
  std::vector<StepReport> steps;
  {
    const Trace::Span span(*trace_, "actor", "training", iteration);
    steps = train_on(&collected, iteration);
  }
  watchdog_->wait("end of training");
  const double seconds_training = maximum_of(world_, training.seconds());

  const auto taken = std::count_if(steps.begin(), steps.end(), [](const StepReport& step) { return !step.skipped; });
  state_.iteration = iteration;
  ++state_.policy_version;
  state_.problem_cursor += collected.problems_taken;
  if (!options_.replay_file.empty()) ++state_.replay_cursor;
  const bool learned = taken > 0 || !collected.values.empty();
  state_.iterations_without_signal = !learned ? state_.iterations_without_signal + 1 : 0;
  saved_ = false;

  IterationFacts facts;
  facts.iteration = iteration;
  facts.groups = collected.groups;
  facts.groups_zero_spread = collected.groups_zero_spread;
  facts.groups_dropped = collected.groups_dropped;
  facts.rollouts_dropped = collected.rollouts_dropped;
  facts.tokens_generated = collected.tokens_generated;
  facts.tokens_processed = collected.tokens_processed;
  facts.seconds_generation = collected.seconds_generation;
  facts.seconds_assessment = collected.seconds_assessment;
  facts.seconds_training = seconds_training;
  facts.seconds_communication = maximum_of(world_, world_.traffic().seconds - talked_before);
  facts.steps_skipped = steps_skipped_;
  facts.tail_share = collected.tail_share;
  facts.drawn = options_.replay_file.empty() && !inputs_.answers;
  MetricsRow row = recorder_->iteration_row(facts, collected.experiences, steps, collected.values, state_);
  move_kl_coefficient(&row);
  refresh_reference();
  recorder_->rollouts(collected.experiences, iteration);
  warn_of_unjudged(row);
  const double seconds = timer.seconds();
  row.set("seconds_iteration", maximum_of(world_, seconds));
  longest_iteration_s_ = std::max(longest_iteration_s_, seconds);
  if (deck_.run.no_signal_limit > 0 && state_.iterations_without_signal >= deck_.run.no_signal_limit) {
    save();
    throw Error(
        ExitCode::numeric,
        Fault{"",
              fmt::format("{} iterations in a row gave nothing to learn from: in every group all rewards were equal",
                          state_.iterations_without_signal),
              "groups with different rewards",
              "easier or harder problems, a larger group_size, a higher temperature; the state is saved"});
  }
  return finish_iteration(std::move(row));
}

// That nothing is learned has a cause that no reward shows.
void TrainingRun::warn_of_unjudged(const MetricsRow& row) {
  if (warned_of_unjudged_ || !row.has("verdict_gold_unusable")) return;
  const double unusable = row.number("verdict_gold_unusable"), crashed = row.number("verdict_crashed");
  if (unusable + crashed < row.number("rollouts")) return;
  warned_of_unjudged_ = true;
  recorder_->warn(
      fmt::format("no answer of this iteration could be judged, so nothing is learned: for {:.0f} of {:.0f} "
                  "the problem has no answer that the verifier can compare with, {:.0f} judgements crashed "
                  "(for files: [data] answer_key)",
                  unusable, row.number("rollouts"), crashed));
}

// Evaluation if due, the line, the checkpoint; then whether to stop. If a stop is asked for during the evaluation, the
// line is kept in the state and the evaluation is made after the resume.
TrainingRun::Next TrainingRun::finish_iteration(MetricsRow row) {
  const std::int64_t iteration = state_.iteration;
  if (evaluate_into(&row, iteration) == Next::leave) {
    state_.pending_row = row.to_json();
    stop_reason_ = "asked to stop";
    saved_ = false;
    save();
    return Next::leave;
  }
  state_.pending_row = nlohmann::json();
  const bool first = !state_.start_recorded;
  state_.start_recorded = true;
  row.set("weights_hash", engine_->weights().hash());
  row.set("policy_version", state_.policy_version);
  if (!inputs_.sandbox.empty()) row.set("sandbox", inputs_.sandbox);
  row.set("ranks", std::int64_t{world_.size()});
  row.set("nodes", std::int64_t{recorder_->nodes()});
  row.set("memory_peak_bytes", world_.maximum(resident_peak_bytes()));
  row.set("time_unix", unix_time());
  row.set("elapsed_s", elapsed_s());
  if (checkpoint_s_ > 0) row.set("seconds_checkpoint", checkpoint_s_);  // of the one written since the last line
  checkpoint_s_ = 0;
  // The line comes before the checkpoint that counts it: lines beyond the newest checkpoint are cut back on resume.
  recorder_->iteration(row, state_);
  const bool due = deck_.run.checkpoint_every > 0 && iteration > 0 && iteration % deck_.run.checkpoint_every == 0;
  if (due || (first && deck_.warm_start && deck_.warm_start->steps > 0)) save();
  if (stop_agreed()) {
    save();
    return Next::leave;
  }
  return Next::go_on;
}

bool TrainingRun::evaluation_due(std::int64_t iteration) const {
  if (deck_.eval.every == 0 || inputs_.held_out.empty()) return false;
  return iteration % deck_.eval.every == 0 || iteration == iterations_in_all();
}

TrainingRun::Next TrainingRun::evaluate_into(MetricsRow* row, std::int64_t iteration) {
  if (!evaluation_due(iteration)) return Next::go_on;
  watchdog_->beat("evaluation");
  const Timer timer;
  const Trace::Span span(*trace_, "generator", "evaluation", iteration);
  if (inputs_.held_out_answers) {
    evaluate_answers(row);
    row->set("seconds_evaluation", maximum_of(world_, timer.seconds()));
    return Next::go_on;
  }
  const EvaluationRequest request = evaluation_request(deck_, inputs_, static_cast<std::uint32_t>(iteration));
  const EvaluationResult result =
      evaluate(request, engine_->generator(), *evaluation_assessor_, world_, stop_request());
  if (result.abandoned) return Next::leave;
  recorder_->add_evaluation(row, result);
  row->set("seconds_evaluation", maximum_of(world_, timer.seconds()));
  return Next::go_on;
}

void TrainingRun::save() {
  if (saved_) return;
  watchdog_->wait("checkpoint");
  const Timer timer;
  const Trace::Span span(*trace_, "actor", "checkpoint", state_.iteration);
  state_.elapsed_s = maximum_of(world_, elapsed_s());  // one state on all ranks
  state_.optimizer_step = engine_->trainer().optimizer().steps();
  if (engine_->critic_trainer() != nullptr)
    state_.critic_optimizer_step = engine_->critic_trainer()->optimizer().steps();
  recorder_->flush();
  try {
    save_run_checkpoint(recorder_->checkpoint_folder(), state_, deck_, inputs_, *engine_, world_,
                        recorder_->verified_checkpoints());
    saved_ = true;
  } catch (const Error& error) {
    if (deck_.run.on_checkpoint_error != "continue" || error.code() == ExitCode::numeric) throw;
    recorder_->warn(fmt::format("checkpoint not written, going on: {}", error.what()));
  }
  checkpoint_s_ = maximum_of(world_, timer.seconds());
  longest_checkpoint_s_ = std::max(longest_checkpoint_s_, checkpoint_s_);
}

bool TrainingRun::stop_agreed() {
  // Bit 0: a signal came on some rank; bit 1: rank 0 says that time is nearly up.
  std::int64_t wish = stop_requested() ? 1 : 0;
  if (world_.rank() == 0 && wall_.reached(longest_iteration_s_, longest_checkpoint_s_)) wish |= 2;
  watchdog_->wait("agreement to go on");
  wish = world_.maximum(wish);
  watchdog_->beat("between iterations");
  if (wish == 0) return false;
  stop_reason_ = (wish & 2) != 0 ? "the wall limit is near" : "asked to stop by a signal";
  saved_ = false;
  return true;
}

StopRequest TrainingRun::stop_request() {
  return [this] {
    watchdog_->beat("generation");
    return stop_requested();
  };
}

void TrainingRun::handle_skipped(const StepReport& report) {
  if (!report.skipped) {
    state_.steps_skipped_in_a_row = 0;
    return;
  }
  ++steps_skipped_;
  if (report.gradient_norm == 0) return;  // nothing to learn from, as when all rewards of each group are equal
  ++state_.steps_skipped_in_a_row;
  recorder_->warn(fmt::format("the gradient is not finite (norm {}): step left out, {} in a row", report.gradient_norm,
                              state_.steps_skipped_in_a_row));
  if (state_.steps_skipped_in_a_row > deck_.run.skip_limit) {
    throw Error(
        ExitCode::numeric,
        Fault{"", fmt::format("{} steps in a row had a gradient that is not finite", state_.steps_skipped_in_a_row),
              fmt::format("at most [run] skip_limit = {}", deck_.run.skip_limit),
              "a smaller learning_rate; the newest checkpoint is good"});
  }
}

}  // namespace maxplus
