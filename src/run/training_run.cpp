// A run from start to end: opening, the loop, evaluation, checkpoints. Warm start and iteration have files of their
// own.
#include "run/training_run.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/strings.hpp"
#include "deck/deck.hpp"
#include "io/safetensors.hpp"
#include "ops/elementwise.hpp"
#include "run/machine.hpp"
#include "run/partial_rollouts.hpp"
#include "run/replay_file.hpp"
#include "run/role_placement.hpp"

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

}  // namespace

double maximum_of(const Communicator& ranks, double value) {
  ranks.maximum(std::span<double>(&value, 1));
  return value;
}

GenerationRule generation_rule(const Deck& deck, const RunInputs& inputs) {
  GenerationRule rule;
  rule.sampling.inverse_temperature = static_cast<float>(1.0 / deck.generation.temperature);
  rule.sampling.top_k = static_cast<std::int32_t>(deck.generation.top_k);
  rule.sampling.top_p = static_cast<float>(deck.generation.top_p);
  rule.max_new_tokens = deck.generation.max_new_tokens;
  rule.force_length = deck.generation.force_length;
  rule.force_length_sigma = deck.generation.force_length_sigma;
  rule.force_length_shared = deck.generation.force_length_shared;
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
  // What is recorded was drawn elsewhere: all ranks train on it.
  groups_ = std::make_unique<RoleGroups>(
      world_, replays ? RoleMap::colocated(world_.size()) : role_map_of(deck_, world_.size()));
  const RoleMap& map = groups_->map();
  ScheduleKind schedule = schedule_kind(deck_, map);
  if (replays) schedule.max_staleness = 0, schedule.staleness = Staleness::exact;
  schedule_ = std::make_unique<Schedule>(schedule);
  if (is_bounded() && schedule.shared != SharedRanks::all) bell_ = std::make_unique<Bell>("bell", world_);
  watchdog_ = std::make_unique<Watchdog>(world_, deck_.run.watchdog_s, Recorder::log_path(deck_),
                                         join(roles_of(deck_, map, world_.rank()), " and "));
  watchdog_->beat("opening of inputs");
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
  EngineShape shape = shape_of_rank(deck_, engine_shape(deck_, inputs_), map, world_.rank());
  shape.arithmetic = common_arithmetic(deck_.model.compute, world_);
  if (shape.drawing) shape.drawing = common_arithmetic(*deck_.generation.compute, world_);
  const int data_rank = map.place(Role::actor, world_.rank());
  const int data_ranks = groups_->trains() ? groups_->actors().size() : 1;
  const MemoryPlan plan = Engine::plan(shape, data_rank, data_ranks);
  watchdog_->wait("agreement on memory and folder");
  require_memory(plan, mpi_.ranks_on_node(), world_);

  recorder_ = std::make_unique<Recorder>(deck_, inputs_, *groups_, options_.recorder);
  watchdog_->beat("start");
  trace_ = std::make_unique<Trace>(world_);
  baseline_bytes_ = resident_bytes();
  engine_ = std::make_unique<Engine>(shape, data_rank, data_ranks, waiting_for(mpi_, shape.threads));
  if (shape.has_policy) {
    hand_off_.emplace(groups_->weights(), engine_->weights(), engine_->second_weights(),
                      !replays && hands_off_beside(deck_, map));
  }
  if (inputs_.reward && groups_->generates())
    assessor_ = std::make_unique<Assessor>(inputs_.reward, deck_.reward.workers, deck_.reward.timeout_s,
                                           inputs_.model.tokenizer);
  if (inputs_.evaluation_reward && groups_->generates()) {
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

  if (const std::string note = bounded_note(deck_, map); !replays && !note.empty()) recorder_->warn(note);

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
  trace_->write(recorder_->folder() + "/trace.json", world_, trace_mailboxes(*schedule_, map));
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
    LoadedRun loaded = load_run_checkpoint(*checkpoint, deck_, inputs_, *engine_, *groups_);
    state_ = std::move(loaded.state);
    waiting_ = std::move(loaded.waiting);
    parked_ = std::move(loaded.parked);
    lengths_ = LengthsSeen::unpack(loaded.lengths);
    elapsed_before_s_ = state_.elapsed_s;
    ++state_.restarts;
    saved_ = true;
    if (deck_.reference && state_.start_recorded) load_reference();
  } else {
    const auto seed = static_cast<std::uint64_t>(deck_.run.seed);
    if (groups_->trains()) load_into(inputs_.model, engine_->weights(), seed);
    if (inputs_.critic && engine_->critic_weights() != nullptr)
      load_into(*inputs_.critic, *engine_->critic_weights(), seed);
  }
  if (inputs_.reward_model) load_reward_model();
  if (state_.kl_coefficient > 0) algorithm_->set_kl_coefficient(state_.kl_coefficient);
  // Ranks that do not train get the weights when the loop begins.
  if (groups_->trains()) engine_->policy().pack_weights();
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
  const bool at_start = state_.iteration == 0 && !state_.start_recorded;
  if (at_start && deck_.reference) {
    if (deck_.reference->path == "policy") copy_policy_to(Role::reference);
    load_reference();
  }
  if (at_start && deck_.critic && !deck_.critic->shared && deck_.critic->path == "policy") {
    copy_policy_to(Role::critic);
    if (engine_->critic_weights() != nullptr) engine_->critic()->pack_weights();
  }
  publish_weights();
  engine_->pack_drawing_copy();
  if (!state_.pending_row.is_null()) return finish_iteration(MetricsRow::from_json(state_.pending_row));
  if (state_.start_recorded) return Next::go_on;
  MetricsRow row;
  row.set("iteration", std::int64_t{0});
  row.set("policy_version", std::int64_t{0});
  row.set("step", std::int64_t{0});
  return finish_iteration(std::move(row));
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
  if (engine_->shape().has_policy) row.set("weights_hash", engine_->weights().hash());
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
  bool abandoned = false;
  if (groups_->generates()) {
    const EvaluationRequest request = evaluation_request(deck_, inputs_, static_cast<std::uint32_t>(iteration));
    const EvaluationResult result =
        evaluate(request, engine_->generator(), *evaluation_assessor_, groups_->generators(), stop_request());
    abandoned = result.abandoned;
    if (!abandoned) {
      recorder_->add_evaluation(row, result);
      row->set("seconds_evaluation", maximum_of(groups_->generators(), timer.seconds()));
    }
  }
  const Relay& relay = groups_->rollouts();
  if (relay.is_needed()) {
    watchdog_->wait("evaluation by the generator");
    std::string text = abandoned || !relay.gives() ? "" : row->to_json().dump();
    relay.pass(&text);
    if (relay.takes()) {
      abandoned = text.empty();
      if (!abandoned) *row = MetricsRow::from_json(nlohmann::json::parse(text));
    }
  }
  return abandoned ? Next::leave : Next::go_on;
}

void TrainingRun::save() {
  if (saved_) return;
  watchdog_->wait("checkpoint");
  const Timer timer;
  const Trace::Span span(*trace_, "actor", "checkpoint", state_.iteration);
  state_.elapsed_s = maximum_of(world_, elapsed_s());  // one state on all ranks
  recorder_->flush();
  saved_ = true;
  state_.optimizer_step = world_.maximum(groups_->trains() ? engine_->trainer().optimizer().steps() : 0);
  CriticTrainer* const critic = engine_->critic_trainer();
  state_.critic_optimizer_step = world_.maximum(critic != nullptr ? critic->optimizer().steps() : 0);
  agree_on_state(nullptr);
  const std::vector<std::byte> lengths = lengths_.pack();
  watchdog_->wait("checkpoint");
  try {
    save_run_checkpoint(recorder_->checkpoint_folder(), state_, deck_, inputs_, *engine_, *groups_,
                        {waiting_, parked_, lengths}, recorder_->verified_checkpoints());
  } catch (const Error& error) {
    if (deck_.run.on_checkpoint_error != "continue" || error.code() == ExitCode::numeric) throw;
    recorder_->warn(fmt::format("checkpoint not written, going on: {}", error.what()));
    saved_ = false;
  }
  if (groups_->account().is_needed()) saved_ = world_.all(saved_);
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

StopRequest TrainingRun::going_on() {
  return [this] {
    watchdog_->beat("generation");
    return false;
  };
}

void TrainingRun::handle_skipped(const StepReport& report) {
  if (!report.skipped) {
    state_.steps_skipped_in_a_row = 0;
    return;
  }
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
