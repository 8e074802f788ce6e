#pragma once
// When to save and leave: signals of the batch system, and the wall-clock limit.
//
// SIGUSR1, SIGUSR2, SIGTERM and SIGINT set a flag that the loops look at; ranks agree on it at the next exchange. The
// wall limit is known to rank 0 alone, from the deck or the scheduler, and runs on the monotonic clock.

#include <optional>
#include <string>

namespace maxplus {

// Installs the handlers of this process. A second SIGINT ends the process at once.
void install_stop_signals();
// The signal that came first, by name ("SIGUSR1"); empty before.
std::string stop_signal();
bool stop_requested();

// Seconds until the scheduler ends this job; nothing outside a job or when it does not tell. Asks Slurm by its
// environment, else by `squeue` (at most five seconds). To be called before MPI starts: it may start a process.
std::optional<double> scheduler_seconds_left();

class WallLimit {
 public:
  // From deck minutes (> 0), else from the scheduler; nothing: no limit.
  WallLimit(double limit_min, std::optional<double> scheduler_s);
  std::optional<double> seconds_left() const;
  // True when an iteration of that length and a checkpoint of that length no longer fit surely.
  bool reached(double longest_iteration_s, double checkpoint_s) const;

 private:
  std::optional<double> deadline_s_;  // on the monotonic clock
};

}  // namespace maxplus
