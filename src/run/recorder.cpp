#include "run/recorder.hpp"

#include <unistd.h>
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <set>

#include <fmt/format.h>

#include "base/error.hpp"
#include "comm/environment.hpp"
#include "deck/deck.hpp"
#include "device/runtime.hpp"
#include "io/checkpoint_file.hpp"
#include "run/build_info.hpp"
#include "run/checkpointing.hpp"
#include "run/judged_programs.hpp"
#include "run/machine.hpp"
#include "run/role_placement.hpp"
#include "run/rollout_records.hpp"
#include "verify/response_text.hpp"

namespace maxplus {

namespace fs = std::filesystem;

namespace {

ProgressKind progress_kind(const RecorderOptions& options) {
  if (options.verbosity == Verbosity::quiet && options.progress == ProgressStyle::automatic) return ProgressKind::none;
  switch (options.progress) {
    case ProgressStyle::draw: return ProgressKind::draw;
    case ProgressStyle::line: return ProgressKind::lines;
    case ProgressStyle::none: return ProgressKind::none;
    case ProgressStyle::automatic: break;
  }
  return ::isatty(STDERR_FILENO) != 0 ? ProgressKind::draw : ProgressKind::lines;
}

bool logs_rollouts(const std::string& rule, std::int64_t iteration) {
  if (rule == "all") return true;
  if (rule == "none") return false;
  return iteration % std::stoll(rule.substr(rule.find(' ') + 1)) == 0;  // "every k", checked with the deck
}

// Whether a folder holds no more than what a run leaves that was ended before its manifest was written.
bool is_beginning(const fs::path& folder) {
  const std::set<std::string> ours{"checkpoints",           "log.txt",       "deck.toml",     "deck.toml.partial",
                                   "manifest.json.partial", "metrics.jsonl", "updates.jsonl", "rollouts.jsonl"};
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (ours.count(entry.path().filename().string()) == 0) return false;
  }
  return !error && fs::is_directory(folder / "checkpoints", error) && fs::is_empty(folder / "checkpoints", error);
}

void write_whole(const fs::path& path, const std::string& text) {
  const fs::path partial = path.string() + ".partial";
  std::ofstream file(partial, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw Error(ExitCode::io, Fault{path.string(), "could not be written", "room on the disk", ""});
  fs::rename(partial, path);
}

}  // namespace

Recorder::Recorder(const Deck& deck, const RunInputs& inputs, const RoleGroups& groups, RecorderOptions options)
    : deck_(deck),
      inputs_(inputs),
      groups_(groups),
      world_(groups.world()),
      options_(std::move(options)),
      folder_(deck.run.out),
      log_path_(log_path(deck)),
      checkpoint_folder_((fs::path(folder_) / "checkpoints").string()),
      log_(groups.speaks() ? 0 : std::max(1, world_.rank()), options_.verbosity) {
  open_folder();
  gather_ranks();
}

Recorder::~Recorder() = default;

// One rank makes or recognises the folder; its verdict is everybody's.
void Recorder::open_folder() {
  std::string fault;
  if (speaks()) {
    std::error_code error;
    const fs::path path(folder_);
    if (fs::exists(path, error) && !fs::is_directory(path, error)) {
      fault = "is a file, not a folder";
    } else if (fs::exists(path, error) && !fs::is_empty(path, error) && !fs::exists(path / "manifest.json", error) &&
               !is_beginning(path)) {
      fault = "is not empty and holds no run";
    } else if (fs::exists(path / "manifest.json", error) && deck_.run.resume == "never") {
      fault = "holds a run, and [run] resume = \"never\"";
    } else {
      fs::create_directories(path / "checkpoints", error);
      if (error) fault = fmt::format("cannot be created: {}", error.message());
      if (fault.empty() && ::access(folder_.c_str(), W_OK) != 0) fault = "cannot be written to";
      constexpr double kEndingRun_s = 3;
      if (fault.empty() && !lock_.take(folder_, kEndingRun_s)) fault = "is in use by another run";
    }
    if (fault.empty()) {
      try {
        log_.open(log_path_);
      } catch (const Error& cannot) {
        fault = cannot.what();
      }
    }
  }
  std::uint64_t length = fault.size();
  world_.broadcast(&length, sizeof length, groups_.speaker());
  fault.resize(length);
  world_.broadcast(fault.data(), length, groups_.speaker());
  if (!fault.empty()) {
    throw Error(ExitCode::cannot_create,
                Fault{folder_, "the run folder " + fault, "an empty or new folder, or one of this run to go on with",
                      "--out FOLDER"});
  }
}

std::string Recorder::log_path(const Deck& deck) { return (fs::path(deck.run.out) / "log.txt").string(); }

void Recorder::gather_ranks() {
  const std::vector<RankPlace> places = places_of_ranks(world_);
  std::set<std::string> hosts;
  nlohmann::ordered_json map = nlohmann::ordered_json::array();
  for (std::size_t r = 0; r < places.size(); ++r) {
    hosts.insert(places[r].host);
    map.push_back({{"rank", r},
                   {"host", places[r].host},
                   {"cores", places[r].cores},
                   {"roles", roles_of(deck_, groups_.map(), static_cast<int>(r))}});
  }
  nodes_ = static_cast<int>(hosts.size());
  manifest_["ranks"] = world_.size();
  manifest_["nodes"] = nodes_;
  manifest_["rank_map"] = std::move(map);
}

std::optional<std::string> Recorder::checkpoint_to_resume() {
  const std::string& rule = deck_.run.resume;
  if (rule == "never") return std::nullopt;
  if (rule != "auto") return rule;
  const ValidCheckpoint found = newest_valid_checkpoint(checkpoint_folder_, world_.handle());
  for (const std::string& refused : found.refused) warn("checkpoint not used: " + refused);
  // To begin again would put new records and checkpoints over what may still be repaired.
  if (!found.path && found.damaged > 0) {
    throw Error(
        ExitCode::data,
        Fault{checkpoint_folder_, fmt::format("none of the {} checkpoints can be used", found.damaged),
              "one that reads back whole", "put a sound copy there, or begin again in a new folder: --out FOLDER"});
  }
  return found.path;
}

void Recorder::begin_files(const RunState& state, const Engine& engine, std::int64_t baseline_bytes,
                           const Algorithm& algorithm) {
  const MemoryPlan& plan = engine.memory_plan();
  const std::int64_t planned = plan.total();
  const auto all_planned = world_.gather_all(std::as_bytes(std::span<const std::int64_t>(&planned, 1)));
  if (!speaks()) return;
  const fs::path folder(folder_);
  // A line belongs to the state if its iteration is completed there; the line of iteration 0 and those of the warm
  // start by steps.
  keep_lines(folder / "metrics.jsonl", [&state](const Json& line) {
    const std::int64_t iteration = line.value("iteration", std::int64_t{0});
    return iteration <= state.iteration && (state.start_recorded || iteration > 0) &&
           !(iteration == state.iteration && !state.pending_row.is_null());
  });
  keep_lines(folder / "updates.jsonl", [&state](const Json& line) {
    if (line.value("phase", std::string()) == "warm_start")
      return line.value("stage_step", std::int64_t{0}) <= state.warm_step;
    return line.value("iteration", std::int64_t{0}) <= state.iteration;
  });
  truncate_after(folder / "rollouts.jsonl", state.iteration);
  if (std::ifstream lines(folder / "metrics.jsonl"); lines) {
    for (std::string text; std::getline(lines, text);) {
      nlohmann::json pairs = nlohmann::json::array();
      const Json line = Json::parse(text);
      for (const auto& [name, value] : line.items()) pairs.push_back({name, value});
      MetricsRow row = MetricsRow::from_json(pairs);
      if (row.has("eval_accuracy")) evaluations_.push_back(row);
      if (row.has("reward_mean")) {
        if (!first_trained_) first_trained_ = row;
        last_trained_ = std::move(row);
      }
    }
  }
  metrics_ = std::make_unique<JsonLinesWriter>(folder / "metrics.jsonl");
  updates_ = std::make_unique<JsonLinesWriter>(folder / "updates.jsonl");
  rollouts_ = std::make_unique<JsonLinesWriter>(folder / "rollouts.jsonl");
  write_whole(folder / "deck.toml", effective_deck(deck_));

  manifest_["title"] = deck_.title;
  manifest_["command"] = options_.command;
  for (const auto& [name, value] : build_info()) manifest_["build"][name] = value;
  manifest_["backend"] = backend_description();
  manifest_["processor"] = processor_name();
  manifest_["instruction_set"] = instruction_set();
  manifest_["arithmetic"] = ops::name_of(engine.shape().arithmetic);
  manifest_["threads"] = deck_.run.threads;
  manifest_["model"] = inputs_.model.description;
  manifest_["inputs"] =
      nlohmann::json::parse(inputs_record(inputs_, engine.shape().arithmetic, engine.shape().drawing));
  if (!inputs_.sandbox.empty()) manifest_["sandbox"] = inputs_.sandbox;
  manifest_["restarts"] = state.restarts;
  for (const MemoryPlan::Line& line : plan.lines) manifest_["memory_plan_bytes"][line.name] = line.bytes;
  for (std::size_t r = 0; r < all_planned.size(); ++r) {
    std::int64_t bytes = 0;
    std::memcpy(&bytes, all_planned[r].data(), sizeof bytes);
    manifest_["rank_map"][r]["memory_plan_bytes"] = bytes;
  }
  manifest_["memory_baseline_bytes"] = baseline_bytes;  // resident before anything of the plan was allocated
  manifest_["started_unix"] = unix_time();
  write_manifest("running");

  event(fmt::format("{}: {} ranks on {} {}, {} threads a rank, {} ({}), {}", version_text(), world_.size(), nodes_,
                    nodes_ == 1 ? "node" : "nodes", deck_.run.threads, processor_name(), instruction_set(),
                    inputs_.model.description));
  for (const std::string& note : inputs_.notes) event(note);
  if (const std::string unsafe = unconfined_warning(inputs_.sandbox); !unsafe.empty()) {
    warn(unsafe);
  } else if (!inputs_.sandbox.empty()) {
    event(fmt::format("judged programs: sandbox = \"{}\"", inputs_.sandbox));
  }
  for (const std::string& sentence : algorithm.describe()) event(sentence);
  for (const std::string& line : role_lines(deck_, groups_.map())) event(line);
  std::string table = plan.table();
  for (std::size_t at = 0, end; at < table.size(); at = end + 1) {
    end = table.find('\n', at);
    event(table.substr(at, end - at));
  }
  if (state.iteration > 0 || state.warm_step > 0) {
    event(fmt::format("going on from iteration {} (warm-start step {})", state.iteration, state.warm_step));
  }
}

void Recorder::write_manifest(const std::string& exit_reason) {
  manifest_["exit"] = exit_reason;
  manifest_["updated_unix"] = unix_time();
  write_whole(fs::path(folder_) / "manifest.json", manifest_.dump(1) + "\n");
}

void Recorder::warm_start_step(const StepReport& report, const RunState& state, std::int64_t steps, double elapsed_s) {
  if (!speaks()) return;
  MetricsRow row;
  row.set("iteration", std::int64_t{0});
  row.set("phase", "warm_start");
  row.set("stage_step", state.warm_step);
  row.set("loss", report.loss);
  row.set("entropy_mean", report.entropy_mean);
  row.set("denominator_tokens", report.denominator_tokens);
  row.set("tokens_trained", report.tokens_trained);
  row.set("tokens_processed", report.tokens_processed);
  row.set("gradient_norm", report.gradient_norm);
  row.set("update_norm", report.update_norm);
  row.set("learning_rate", report.learning_rate);
  row.set("elapsed_s", elapsed_s);
  updates_->write(row.line());
  if (progress_noun_ != "warm-start step") {
    progress_noun_ = "warm-start step";
    progress_ = std::make_unique<Progress>(progress_kind(options_), progress_noun_, steps, state.warm_step - 1,
                                           std::cerr, [this] { return timer_.seconds(); });
  }
  progress_->update(state.warm_step, fmt::format("loss {:.4f}", report.loss));
}

void Recorder::step(const StepReport& report, std::int64_t iteration, const RunState& state, double elapsed_s) {
  if (!speaks()) return;
  MetricsRow row;
  row.set("iteration", iteration);
  row.set("step", state.step);
  add_step_statistics(&row, report);
  if (report.value) add_value_statistics(&row, std::span<const ValueReport>(&*report.value, 1));
  row.set("elapsed_s", elapsed_s);
  updates_->write(row.line());
}

void Recorder::value_step(const ValueReport& report, std::int64_t iteration, const RunState& state, double elapsed_s) {
  if (!speaks()) return;
  MetricsRow row;
  row.set("iteration", iteration);
  row.set("phase", "value");
  row.set("step", state.step);
  add_value_statistics(&row, std::span<const ValueReport>(&report, 1));
  row.set("tokens_processed", report.tokens_processed);
  row.set("elapsed_s", elapsed_s);
  updates_->write(row.line());
}

Rewards Recorder::rewards_from() const {
  if (inputs_.answers) return Rewards::given;
  return inputs_.reward_model && !inputs_.reward ? Rewards::scored : Rewards::judged;
}

MetricsRow Recorder::iteration_row(const IterationFacts& facts, std::span<const Experience> experiences,
                                   std::span<const StepReport> steps, std::span<const ValueReport> values,
                                   const RunState& state) const {
  MetricsRow row;
  row.set("iteration", facts.iteration);
  row.set("step", state.step);
  row.set("policy_version", facts.iteration);
  add_rollout_statistics(&row, experiences, reward_parts(inputs_), rewards_from());
  add_step_statistics(&row, steps);
  add_value_statistics(&row, values);
  add_explained_variance(&row, experiences);
  row.set("problems", facts.groups);
  row.set("groups_dropped", facts.groups_dropped);
  row.set("rollouts_dropped", facts.rollouts_dropped);
  row.set("seconds_training", facts.seconds_training);
  row.set("seconds_communication", facts.seconds_communication);
  std::int64_t trained_rows = 0, trained = 0;
  for (const StepReport& step : steps) trained_rows += step.tokens_processed, trained += step.tokens_trained;
  for (const ValueReport& value : values) trained_rows += value.tokens_processed;
  row.set("tokens_processed", facts.tokens_processed + trained_rows);
  if (facts.drawn) {
    row.set("tokens_generated", facts.tokens_generated);
    row.set("seconds_assessment", facts.seconds_assessment);
    if (facts.tail_share) row.set("tail_share", *facts.tail_share);
    if (facts.tokens_drawn > 0) row.set("seconds_generation", facts.seconds_generation);
    if (facts.tokens_drawn > 0 && facts.seconds_generation > 0)
      row.set("generation_tokens_per_s", static_cast<double>(facts.tokens_drawn) / facts.seconds_generation);
  }
  if (facts.seconds_training > 0 && trained > 0)
    row.set("training_tokens_per_s", static_cast<double>(trained_rows) / facts.seconds_training);
  return row;
}

void Recorder::add_evaluation(MetricsRow* row, const EvaluationResult& result) const {
  row->set("eval_problems", result.problems);
  if (result.samples > 0) row->set("eval_samples", result.samples);
  for (const auto& [name, value] : named_values(result)) row->set(name, value);
}

void Recorder::rollouts(std::span<const Experience> experiences, std::int64_t iteration) {
  if (!speaks() || !logs_rollouts(deck_.run.log_rollouts, iteration)) return;
  for (const Experience& experience : experiences) {
    const std::string text =
        inputs_.model.tokenizer ? response_text(*inputs_.model.tokenizer, experience.rollout) : std::string();
    Json record = rollout_record(iteration, experience, text);
    if (rewards_from() == Rewards::scored) record.erase("verdict");
    rollouts_->write(record);
  }
}

void Recorder::iteration(const MetricsRow& row, const RunState& state) {
  if (!speaks()) return;
  metrics_->write(row.line());
  if (row.has("eval_accuracy")) evaluations_.push_back(row);
  if (row.has("reward_mean")) {
    if (!first_trained_) first_trained_ = row;
    last_trained_ = row;
  }
  std::string detail;
  if (row.has("reward_mean")) detail = fmt::format("reward {:.3f}", row.number("reward_mean"));
  if (row.has("response_length_mean")) detail += fmt::format("  length {:.1f}", row.number("response_length_mean"));
  if (row.has("preference_accuracy")) detail += fmt::format("  right pairs {:.3f}", row.number("preference_accuracy"));
  if (row.has("eval_preference_accuracy"))
    detail += fmt::format("  held-out {:.3f}", row.number("eval_preference_accuracy"));
  if (!evaluations_.empty()) {
    detail += fmt::format("  held-out {:.3f}", evaluations_.back().number("eval_accuracy"));
    if (!row.has("eval_accuracy"))
      detail += fmt::format(" (iteration {:.0f})", evaluations_.back().number("iteration"));
  }
  if (state.iteration == 0) {
    if (!evaluations_.empty())
      event(fmt::format("at the start: held-out accuracy {:.3f}", evaluations_.back().number("eval_accuracy")));
    return;
  }
  if (progress_noun_ != "iteration") {
    progress_noun_ = "iteration";
    progress_ = std::make_unique<Progress>(progress_kind(options_), progress_noun_, deck_.run.iterations,
                                           state.iteration - 1, std::cerr, [this] { return timer_.seconds(); });
  }
  progress_->update(state.iteration, detail);
}

void Recorder::event(const std::string& line) {
  if (!speaks()) return;
  if (progress_) progress_->pause();
  log_.event(line);
}

void Recorder::warn(const std::string& line) {
  if (!speaks()) return;
  if (progress_) progress_->pause();
  log_.warning(line);
}

void Recorder::flush() {
  if (!speaks() || !metrics_) return;
  metrics_->sync();
  updates_->sync();
  rollouts_->sync();
  log_.flush();
}

}  // namespace maxplus
