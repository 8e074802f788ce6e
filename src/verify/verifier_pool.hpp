#pragma once
// Threads that judge rollouts, with a deadline an item.
//
// Nothing here talks to MPI, and the caller never waits for an item beyond its deadline: a verifier that does not
// return is given up, its item is `crashed` (our fault, not the answer's), its thread is left to itself and replaced.
// Results come in the order of the items, whatever the threads do.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "verify/verifier.hpp"

namespace maxplus {

// One rollout to be judged.
struct JudgeItem {
  Problem problem;
  Rollout rollout;
  std::string response;  // text of the rollout without its stop token
};

class VerifierPool {
 public:
  VerifierPool(std::shared_ptr<const Verifier> verifier, std::int64_t workers, double timeout_s);
  ~VerifierPool();
  VerifierPool(const VerifierPool&) = delete;
  VerifierPool& operator=(const VerifierPool&) = delete;

  // Items are judged from the moment they are added, while the caller does something else. look_after() gives up the
  // late ones; call it now and then. One caller at a time.
  void add(std::vector<JudgeItem> items);
  void look_after();
  // Of all items since the last finish(), in the order of adding. Returns when every one is done or past its deadline;
  // `poll` is called every 20 ms or so from this thread, to look at signals (may be empty). If it throws, the items
  // that have not begun are dropped and the exception goes on.
  std::vector<Assessment> finish(const std::function<void()>& poll);
  void drop();  // all items since the last finish(); those in work end by themselves
  // add() and finish().
  std::vector<Assessment> assess(std::vector<JudgeItem> items, const std::function<void()>& poll);

  // How long, in all, there were items to be judged.
  double busy_seconds() const;

  std::int64_t abandoned() const;  // threads given up so far

 private:
  struct State;
  struct Slot;
  struct Job;
  static void work(const std::shared_ptr<State>& state, const std::shared_ptr<Slot>& slot);
  void add_thread();
  void give_up_late_ones();
  std::shared_ptr<State> state_;
  std::shared_ptr<Job> job_;  // since the last finish()
};

}  // namespace maxplus
