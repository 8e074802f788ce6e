#pragma once
// The assessor: judges rollouts with the deck's reward function on a pool of threads, never inside MPI.

#include <memory>
#include <span>
#include <vector>

#include "deck/tables.hpp"
#include "rl/sample.hpp"
#include "roles/generator.hpp"
#include "text/tokenizer.hpp"
#include "verify/reward_function.hpp"
#include "verify/verifier_pool.hpp"

namespace maxplus {

// The response as text: the stop token that ended it is left out.
std::string response_text(const Tokenizer& tokenizer, const Rollout& rollout);

class Assessor {
 public:
  Assessor(const RewardTable& table, std::uint64_t seed, std::shared_ptr<const Tokenizer> tokenizer);

  // One assessment a rollout, in their order. problems[i] belongs to rollouts[i]. `poll` is called while waiting.
  std::vector<Assessment> assess(std::span<const Problem* const> problems, std::span<const Rollout> rollouts, const StopRequest& poll);

 private:
  std::shared_ptr<const Tokenizer> tokenizer_;
  std::shared_ptr<const RewardFunction> reward_;
  VerifierPool pool_;
};

}  // namespace maxplus
