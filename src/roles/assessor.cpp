#include "roles/assessor.hpp"

#include "base/error.hpp"
#include "verify/response_text.hpp"

namespace maxplus {

Assessor::Assessor(std::shared_ptr<const RewardFunction> reward, std::int64_t workers, double timeout_s,
                   std::shared_ptr<const Tokenizer> tokenizer)
    : tokenizer_(std::move(tokenizer)), pool_(std::move(reward), workers, timeout_s) {}

std::vector<Assessment> Assessor::assess(std::span<const Problem* const> problems, std::span<const Rollout> rollouts,
                                         const StopRequest& poll) {
  MAXPLUS_REQUIRE(problems.size() == rollouts.size(), "one problem a rollout");
  std::vector<JudgeItem> items(rollouts.size());
  for (std::size_t i = 0; i < rollouts.size(); ++i) {
    items[i].problem = *problems[i];
    items[i].rollout = rollouts[i];
    if (tokenizer_) items[i].response = response_text(*tokenizer_, rollouts[i]);
  }
  return pool_.assess(std::move(items), [&poll] {
    if (poll) poll();
  });
}

}  // namespace maxplus
