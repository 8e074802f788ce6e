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
  std::vector<Assessment> assessments(rollouts.size());
  std::vector<JudgeItem> items;
  std::vector<std::size_t> place;
  for (std::size_t i = 0; i < rollouts.size(); ++i) {
    if (!rollouts[i].fault.empty()) {
      assessments[i] = judged(Verdict::crashed, rollouts[i].fault);
      continue;
    }
    place.push_back(i);
    items.push_back({*problems[i], rollouts[i], tokenizer_ ? response_text(*tokenizer_, rollouts[i]) : std::string()});
  }
  std::vector<Assessment> results = pool_.assess(std::move(items), [&poll] {
    if (poll) poll();
  });
  for (std::size_t k = 0; k < place.size(); ++k) assessments[place[k]] = std::move(results[k]);
  return assessments;
}

}  // namespace maxplus
