#pragma once
// The assessor: judges rollouts with the deck's reward function on a pool of threads, never inside MPI.

#include <memory>
#include <span>
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

 private:
  std::shared_ptr<const Tokenizer> tokenizer_;
  VerifierPool pool_;
};

}  // namespace maxplus
