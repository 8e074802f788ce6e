#pragma once
// Everything small that a run needs to go on exactly where it stood; the tensors stand beside it in the checkpoint.

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace maxplus {

struct RunState {
  std::int64_t iteration = 0;  // iterations completed
  std::int64_t warm_step = 0;  // warm-start steps completed
  bool warm_start_done = false;
  bool start_recorded = false;            // the line of iteration 0 is written
  std::int64_t step = 0;                  // optimizer steps of the loop (warm start apart)
  std::int64_t policy_version = 0;        // hand-offs of weights to the generator, one an iteration
  std::int64_t problem_cursor = 0;        // problems admitted so far, in the run's order
  std::int64_t demonstration_cursor = 0;  // demonstrations used so far in the present stage
  std::int64_t replay_cursor = 0;         // iterations of a recorded file used so far
  std::int64_t optimizer_step = 0;  // of the optimizer as it stands (fresh in each warm-start stage and in the loop)
  std::int64_t critic_optimizer_step = 0;
  std::int64_t steps_skipped_in_a_row = 0;
  double kl_coefficient = 0;  // where a controller moves it; 0: not yet
  std::int64_t iterations_without_signal = 0;
  std::vector<std::int64_t> long_problems;  // that wait for a long round, as places in the run's order
  double elapsed_s = 0;                     // of all incarnations; recorded, decides nothing
  std::int64_t restarts = 0;

  nlohmann::json pending_row;  // a line whose evaluation was interrupted; null: none

  template <class Visitor>
  void visit(Visitor& v) {
    v("iteration", iteration), v("warm_step", warm_step), v("warm_start_done", warm_start_done),
        v("start_recorded", start_recorded);
    v("step", step), v("policy_version", policy_version), v("problem_cursor", problem_cursor);
    v("demonstration_cursor", demonstration_cursor), v("replay_cursor", replay_cursor),
        v("optimizer_step", optimizer_step);
    v("critic_optimizer_step", critic_optimizer_step);
    v("kl_coefficient", kl_coefficient), v("long_problems", long_problems);
    v("steps_skipped_in_a_row", steps_skipped_in_a_row), v("iterations_without_signal", iterations_without_signal);
    v("elapsed_s", elapsed_s), v("restarts", restarts), v("pending_row", pending_row);
  }
  nlohmann::json to_json() const;
  static RunState from_json(const nlohmann::json& json);  // every key must be there, or Error(ExitCode::data), but for
                                                          // those that came later
};

}  // namespace maxplus
