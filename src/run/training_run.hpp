#pragma once
// A run of `train` or `replay`: warm start, then iterations of generation, assessment and training, with records,
// evaluations and checkpoints between them, until it is finished, asked to stop, or out of time.
//
// State that decides anything is RunState, the weights and the moments; everything else is derived from the deck. So a
// run that is stopped anywhere goes on as if it had not been: an iteration that was interrupted before its first update
// is begun again, one that was trained is finished.
//
// Ranks may have different roles: those that do not generate get every iteration's rollouts handed on, those that
// generate and do not train the new weights. What is drawn ahead of training waits on every rank that learns from it
// (actor, critic, reference), and in checkpoints. A critic on ranks of its own takes its steps while the actor takes
// its own; what such networks say of rollouts is handed to those who need it.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/timer.hpp"
#include "comm/bell.hpp"
#include "comm/communicator.hpp"
#include "comm/environment.hpp"
#include "deck/tables.hpp"
#include "plan/schedule.hpp"
#include "rl/algorithms/algorithm.hpp"
#include "roles/assessor.hpp"
#include "roles/collected.hpp"
#include "roles/engine.hpp"
#include "roles/evaluation.hpp"
#include "roles/role_groups.hpp"
#include "roles/weight_sync.hpp"
#include "run/checkpointing.hpp"
#include "run/dispatch.hpp"
#include "run/engine_shape.hpp"
#include "run/inputs.hpp"
#include "run/recorder.hpp"
#include "run/run_state.hpp"
#include "run/stop_signals.hpp"
#include "run/trace.hpp"
#include "run/watchdog.hpp"

namespace maxplus {

struct TrainingOptions {
  std::string replay_file;     // `replay`: recorded rollouts instead of generation and assessment
  std::string gradients_file;  // `replay --gradients`
  std::optional<double> scheduler_seconds_left;
  RecorderOptions recorder;
  std::shared_ptr<const Broker> broker;  // who starts judged programs
};

// How a deck draws; purpose and version are the caller's to set.
GenerationRule generation_rule(const Deck& deck, const RunInputs& inputs);
EvaluationRequest evaluation_request(const Deck& deck, const RunInputs& inputs, std::uint32_t iteration);

// Collective.
double maximum_of(const Communicator& ranks, double value);

class TrainingRun {
 public:
  TrainingRun(Deck deck, const MpiEnvironment& mpi, const Communicator& world, TrainingOptions options);
  ~TrainingRun();

  // Exit code of the program: ok, or temporary when it saved and left early.
  ExitCode run();

 private:
  enum class Next { go_on, leave };
  // What the ranks that train know of an iteration.
  struct Trained {
    std::vector<StepReport> steps;
    std::vector<ValueReport> values;  // of the critic's updates
    double seconds_scoring = 0, seconds_training = 0;
  };
  // Where an iteration's time went.
  struct Spent {
    double seconds_generation = 0, seconds_assessment = 0;  // longest of all that generate
    double seconds_drawing = 0;                             // both, less what they did at the same time
    double seconds_busy = 0;                                // of this rank alone
    double seconds_weight_handoff = 0, seconds_communication = 0;
    // With bounded staleness: until what is trained on was drawn whole, and, once it is trained on, until drawing has
    // been interrupted and what had ended has been judged.
    double seconds_awaited = 0;
    std::int64_t tokens_drawn = 0;
    std::int64_t groups_waiting = 0;  // when the training begins, those that it takes included
  };

  // What a step of the schedule has made so far.
  struct Step {
    Timer timer;
    double talked_before = 0;
    Spent spent;
    Collected drawn;  // not yet exchanged
    Collected taken;  // to be trained on
    Trained trained;
  };

  void resume_or_start();
  void copy_policy_to(Role role);  // collective over the ranks that train or have the role
  void load_reference();           // collective
  void refresh_reference();
  void move_kl_coefficient(MetricsRow* row);
  void load_reward_model();  // collective
  void tell_kept(const std::string& table, const std::string& type, double error);
  void write_first_gradient();
  std::int64_t iterations_in_all() const;
  Next warm_start();
  Next warm_start_step(int stage, std::int64_t step_in_stage, std::int64_t steps_of_stage,
                       const DemonstrationSource& source, const Algorithm& supervised);
  Next begin_loop();  // reference, the line of iteration 0
  Next iterate();
  void train_on_waiting(std::int64_t iteration, Step* step);
  Next close(Step* step);
  Next leave_after_stop();
  // training_drawing.cpp: iterations are drawn, wait, and are handed to ranks that did not draw them.
  Collected collect(std::int64_t iteration, const StopRequest& stop);
  Collected collect_recorded();
  Collected collect_answers(std::int64_t iteration);
  // Of one call of the generator: problems by slot, and what is parked.
  struct Round {
    std::int64_t iteration = 0, attempt = 0;
    std::vector<std::int64_t> places;  // in the run's order
    std::int64_t listed = 0;           // the first of them come from the list of long problems
    std::int64_t members = 0;          // rollouts of each
    bool chooses = false;              // only the first count (over_provision.hpp)
    std::int64_t needed = 0;  // with bounded staleness: rollouts of iterations up to this one must end in this call
  };
  RolloutId id_of(const Round& round, std::int64_t slot, std::int64_t member) const;
  // training_choice.cpp
  Round round_of(std::int64_t iteration, std::int64_t attempt, std::int64_t taken) const;
  void keep_first(const Round& round, std::vector<GenerationRequest>* requests, std::vector<const Problem*>* problem_of,
                  std::vector<Rollout>* rollouts, Collected* collected) const;
  void move_on(const Collected& drawn);
  std::vector<std::int64_t> places_of_rank(const Round& round) const;
  std::vector<GenerationRequest> requests_of_rank(const Round& round, std::vector<Problem>* problems) const;
  GenerationRule drawing_rule(std::int64_t iteration) const;
  Collected draw_and_judge(const Round& round, const StopRequest& stop);
  void agree_on_drawn(Collected* collected) const;
  void append(Collected* all, Collected more, std::int64_t groups_wanted) const;
  Collected draw(std::int64_t iteration, const StopRequest& stop);
  // training_bounded.cpp: iterations that generation begins as soon as max_staleness admits them.
  bool is_bounded() const { return schedule_->kind().staleness == Staleness::bounded; }
  std::int64_t whole_until() const;  // the last iteration that has been drawn whole, like all before it
  Collected collect_bounded(std::int64_t needed, const StopRequest& stop);
  Round bounded_round(std::int64_t needed) const;
  void pull_when_drawn(std::span<const GenerationRequest> requests, const Round& round, GenerationRule* rule,
                       RequestDone* done);
  void deal_out(Collected drawn);
  bool take_in(Collected collected, Spent* spent);  // false: it was abandoned
  // training_scores.cpp: what the judge, the reward model and other networks say of rollouts.
  // In the order of the requests. `judged_so_far`: the judge got each group as soon as it was drawn.
  std::vector<Assessment> judge(std::span<const Problem* const> problems, std::span<const Rollout> rollouts,
                                bool judged_so_far);
  void add_model_scores(std::span<const float> score, std::vector<Assessment>* assessments) const;
  // training_reward_model.cpp: a score an experience; on ranks of its own it is asked before the judge is waited for.
  std::vector<float> score_answers_here(std::span<const Experience> experiences);
  std::vector<float> score_answers_together(std::span<const Experience> experiences);
  bool scores_elsewhere() const { return groups_->map().is_apart(Role::reward) && deck_.reward_model; }
  std::vector<Experience> ask_for_scores(const std::vector<Experience>& mine) const;  // those of all that generate
  std::vector<float> hear_scores(std::span<const Experience> all, std::span<const Experience> mine);
  void end_asking_for_scores() const;
  void serve_scores();  // until those that generate have no more to ask
  std::vector<std::vector<float>> score(Transformer& transformer, std::span<const Experience* const> experiences);
  // The same of experiences that all ranks of a role hold: each scores its share, a list of floats a rollout is all
  // that travels.
  using Scoring = std::function<std::vector<std::vector<float>>(std::span<const Experience* const>)>;
  std::vector<std::vector<float>> together(Role role, std::span<const Experience* const> experiences,
                                           const Scoring& scoring);
  std::vector<std::vector<float>> score_together(Role role, Transformer& transformer,
                                                 std::span<const Experience* const> experiences);
  // What networks beside the policy say of an iteration, on the ranks that need it.
  void ask_networks(std::span<Experience> experiences, std::int64_t iteration);
  void hand_on_scores(const Relay& relay, std::span<Experience> experiences, std::vector<float> Assessment::*scores,
                      const char* what);
  void fill_reference(std::span<Experience> experiences, const Scoring& scoring);
  void fill_values(std::span<Experience> experiences);
  void fill_missing_scores(std::vector<Experience>* recorded);
  void fill_proximal(Collected* collected);
  std::vector<Rollout> draw_greedy(std::span<const GenerationRequest> requests, GenerationRule rule,
                                   const StopRequest& stop);
  void fill_greedy_rewards(std::vector<Experience>* experiences, const std::vector<Rollout>& greedy);
  std::optional<ValueReport> train_critic(const StepRequest& policy, std::int64_t number);
  void hear_of_critic(std::optional<ValueReport>* report);  // from its ranks to those that train the policy
  Trained train(Collected* collected, std::int64_t iteration);
  void train_on(Collected* collected, std::int64_t iteration, Trained* trained);
  void require_fresh(const Collected& collected) const;
  void publish_weights();
  MetricsRow row_of(const Collected& collected, const Trained& trained, const Spent& spent);
  void add_staleness(MetricsRow* row, const Collected& collected, const Spent& spent) const;
  void agree_on_state(MetricsRow* row);  // what the ranks that train know becomes everybody's; without a line: null
  void add_idle_shares(MetricsRow* row, const Spent& spent, double seconds_iteration);
  void require_signal();
  void warn_of_unjudged(const MetricsRow& row, std::span<const Experience> experiences);
  Next evaluate_into(MetricsRow* row, std::int64_t iteration);
  void evaluate_answers(MetricsRow* row);
  Next finish_iteration(MetricsRow row);  // evaluation if due, the line, the checkpoint
  void save();
  bool stop_agreed();  // collective
  StopRequest stop_request();
  StopRequest going_on();  // of work that ranks are busy beside and that must be finished
  bool evaluation_due(std::int64_t iteration) const;
  double elapsed_s() const { return elapsed_before_s_ + timer_.seconds(); }
  void handle_skipped(const StepReport& report);

  Deck deck_;
  const Communicator& world_;
  const MpiEnvironment& mpi_;
  TrainingOptions options_;
  RunInputs inputs_;
  std::unique_ptr<RoleGroups> groups_;
  std::unique_ptr<Schedule> schedule_;
  std::unique_ptr<Bell> bell_;  // what interrupts drawing with bounded staleness; null: no rank only draws or trains
  std::unique_ptr<Algorithm> algorithm_;
  std::unique_ptr<Recorder> recorder_;
  std::unique_ptr<Watchdog> watchdog_;
  std::unique_ptr<Trace> trace_;
  std::unique_ptr<Engine> engine_;
  std::optional<WeightHandOff> hand_off_;  // of ranks that have the policy
  std::unique_ptr<Assessor> assessor_, evaluation_assessor_;
  WallLimit wall_;
  RunState state_;
  std::vector<Collected> waiting_;  // drawn and not trained on; ranks that do not train keep only the facts
  std::vector<Experience> parked_;  // by the newest iteration that was drawn; on every rank
  LengthsSeen lengths_;             // where dispatch asks for them; on every rank
  Timer timer_;
  double elapsed_before_s_ = 0;
  std::int64_t baseline_bytes_ = 0;                // resident before the engine was built
  std::vector<std::vector<Experience>> recorded_;  // of `replay`: by iteration
  double drawing_s_ = 0;                           // of this rank in this iteration, judging included
  double waited_s_ = 0;                            // likewise, for other roles in the midst of its own work
  double longest_iteration_s_ = 0, checkpoint_s_ = 0, longest_checkpoint_s_ = 0;
  bool saved_ = false;  // the state as it stands is in a checkpoint
  bool warned_of_unjudged_ = false;
  bool gradient_written_ = false;  // of `replay --gradients`
  std::string stop_reason_;
};

}  // namespace maxplus
