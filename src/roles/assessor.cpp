#include "roles/assessor.hpp"

#include <map>

#include "base/error.hpp"
#include "verify/response_text.hpp"

namespace maxplus {

Assessor::Assessor(std::shared_ptr<const RewardFunction> reward, std::int64_t workers, double timeout_s,
                   std::shared_ptr<const Tokenizer> tokenizer)
    : tokenizer_(std::move(tokenizer)), pool_(std::move(reward), workers, timeout_s) {}

void Assessor::add(std::size_t first, std::span<const Problem* const> problems, std::span<const Rollout> rollouts) {
  MAXPLUS_REQUIRE(problems.size() == rollouts.size(), "one problem a rollout");
  std::vector<JudgeItem> items;
  for (std::size_t i = 0; i < rollouts.size(); ++i) {
    if (!rollouts[i].fault.empty()) {
      faulty_.emplace_back(first + i, judged(Verdict::crashed, rollouts[i].fault));
      continue;
    }
    place_.push_back(first + i);
    items.push_back({*problems[i], rollouts[i], tokenizer_ ? response_text(*tokenizer_, rollouts[i]) : std::string()});
  }
  pool_.add(std::move(items));
}

void Assessor::drop() {
  pool_.drop();
  place_.clear();
  faulty_.clear();
}

std::vector<Assessment> Assessor::finish(const StopRequest& poll) {
  std::vector<Assessment> results = pool_.finish([&poll] {
    if (poll) poll();
  });
  std::map<std::size_t, Assessment> by_place;
  for (std::size_t k = 0; k < place_.size(); ++k) by_place.emplace(place_[k], std::move(results[k]));
  for (auto& [place, assessment] : faulty_) by_place.emplace(place, std::move(assessment));
  std::vector<Assessment> assessments;
  for (auto& [place, assessment] : by_place) assessments.push_back(std::move(assessment));
  place_.clear();
  faulty_.clear();
  return assessments;
}

std::vector<Assessment> Assessor::assess(std::span<const Problem* const> problems, std::span<const Rollout> rollouts,
                                         const StopRequest& poll) {
  add(0, problems, rollouts);
  return finish(poll);
}

}  // namespace maxplus
