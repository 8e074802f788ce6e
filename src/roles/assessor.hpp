#pragma once
// The assessor: judges rollouts with the deck's reward function on a pool of threads, never inside MPI.

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "rl/sample.hpp"
#include "roles/generator.hpp"
#include "text/tokenizer.hpp"
#include "verify/reward_function.hpp"
#include "verify/verifier_pool.hpp"

namespace maxplus {

class Assessor {
 public:
  // Without a tokenizer, responses are judged as empty text.
  Assessor(std::shared_ptr<const RewardFunction> reward, std::int64_t workers, double timeout_s,
           std::shared_ptr<const Tokenizer> tokenizer);

  // One assessment a rollout, in their order. problems[i] belongs to rollouts[i]. `poll` is called while waiting.
  std::vector<Assessment> assess(std::span<const Problem* const> problems, std::span<const Rollout> rollouts,
                                 const StopRequest& poll);

  // The same in parts that come in any order while the caller does something else (VerifierPool::add): rollouts that
  // stand in the whole list from `first` on. It may have gaps: finish() tells of those that were added, in its order.
  void add(std::size_t first, std::span<const Problem* const> problems, std::span<const Rollout> rollouts);
  void look_after() { pool_.look_after(); }
  void drop();
  std::vector<Assessment> finish(const StopRequest& poll);

  double busy_seconds() const { return pool_.busy_seconds(); }

 private:
  std::shared_ptr<const Tokenizer> tokenizer_;
  VerifierPool pool_;
  std::vector<std::size_t> place_;  // in the whole list, of each item that was added
  std::vector<std::pair<std::size_t, Assessment>> faulty_;
};

}  // namespace maxplus
