#pragma once
// What a run leaves behind and shows: the run folder (deck, manifest, metrics, updates, rollouts, log), the progress
// line and the closing summary. One rank writes, the first that trains; on others the calls that are not collective do
// nothing.

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/log.hpp"
#include "base/timer.hpp"
#include "comm/communicator.hpp"
#include "deck/tables.hpp"
#include "rl/algorithms/algorithm.hpp"
#include "roles/engine.hpp"
#include "roles/evaluation.hpp"
#include "roles/role_groups.hpp"
#include "run/command_line.hpp"
#include "run/folder_lock.hpp"
#include "run/inputs.hpp"
#include "run/json_lines.hpp"
#include "run/metrics.hpp"
#include "run/progress.hpp"
#include "run/run_state.hpp"

namespace maxplus {

struct RecorderOptions {
  Verbosity verbosity = Verbosity::normal;
  ProgressStyle progress = ProgressStyle::automatic;
  CommandLine::Output output = CommandLine::Output::human;
  std::string command = "train";
};

// What an iteration tells beside its experiences and updates.
struct IterationFacts {
  std::int64_t iteration = 0, groups = 0, groups_dropped = 0, rollouts_dropped = 0;
  std::int64_t tokens_generated = 0, tokens_processed = 0;  // when its rollouts were drawn
  std::int64_t tokens_drawn =
      0;  // while it was trained on, in seconds_generation: of other iterations when drawing ahead
  double seconds_generation = 0, seconds_assessment = 0, seconds_training = 0;
  std::optional<double> tail_share = {};  // absent: nobody waits for the last to end
  double seconds_communication = 0;
  bool drawn = true;  // and judged; not of a replay, and not of answers from a file
};

class Recorder {
 public:
  // Collective. Makes the run folder, or finds a run to go on with there; anything else in it is Error(cannot_create).
  Recorder(const Deck& deck, const RunInputs& inputs, const RoleGroups& groups, RecorderOptions options);
  ~Recorder();

  const std::string& folder() const { return folder_; }
  static std::string log_path(const Deck& deck);
  const std::string& checkpoint_folder() const { return checkpoint_folder_; }
  std::set<std::string>* verified_checkpoints() { return &verified_; }
  int nodes() const { return nodes_; }

  // Collective. The checkpoint that [run] resume asks for, if there is one.
  std::optional<std::string> checkpoint_to_resume();
  // Collective. Cuts the records back to what the state holds, writes deck.toml and manifest.json, opens the files.
  void begin_files(const RunState& state, const Engine& engine, std::int64_t baseline_bytes,
                   const Algorithm& algorithm);

  void warm_start_step(const StepReport& report, const RunState& state, std::int64_t steps, double elapsed_s);
  void step(const StepReport& report, std::int64_t iteration, const RunState& state, double elapsed_s);
  // The critic's update where the policy takes none beside it.
  void value_step(const ValueReport& report, std::int64_t iteration, const RunState& state, double elapsed_s);
  MetricsRow iteration_row(const IterationFacts& facts, std::span<const Experience> experiences,
                           std::span<const StepReport> steps, std::span<const ValueReport> values,
                           const RunState& state) const;
  void add_evaluation(MetricsRow* row, const EvaluationResult& result) const;
  void rollouts(std::span<const Experience> experiences, std::int64_t iteration);
  void iteration(const MetricsRow& row, const RunState& state);

  void event(const std::string& line);
  void warn(const std::string& line);
  void flush();  // records are on the disk
  // The closing summary on standard output, the report, the manifest's last words.
  enum class Ending { finished, paused, stopped };  // all iterations done; stop_after reached; saved and left early
  void finish(const RunState& state, double elapsed_s, Ending ending, const std::string& reason);

 private:
  bool speaks() const { return groups_.speaks(); }
  Rewards rewards_from() const;
  void open_folder();
  void write_manifest(const std::string& exit_reason);
  void gather_ranks();
  std::string summary(const RunState& state, double elapsed_s, Ending ending, const std::string& reason) const;

  const Deck& deck_;
  const RunInputs& inputs_;
  const RoleGroups& groups_;
  const Communicator& world_;
  RecorderOptions options_;
  std::string folder_, log_path_, checkpoint_folder_;
  std::set<std::string> verified_;
  FolderLock lock_;  // held by the rank that writes
  int nodes_ = 1;
  nlohmann::ordered_json manifest_;
  Log log_;
  std::unique_ptr<JsonLinesWriter> metrics_, updates_, rollouts_;
  std::unique_ptr<Progress> progress_;
  std::string progress_noun_;
  std::vector<MetricsRow> evaluations_;  // rows that hold an evaluation, for the summary
  std::optional<MetricsRow> first_trained_, last_trained_;
  Timer timer_;
};

}  // namespace maxplus
