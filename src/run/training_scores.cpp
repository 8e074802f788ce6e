// What a run finds out about rollouts beyond their rewards: log-probabilities under the reference and under the policy
// at the start of the iteration, and the reward of the greedy answer.
#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include "base/error.hpp"
#include "roles/exchange.hpp"
#include "roles/scorer.hpp"
#include "run/stop_signals.hpp"
#include "run/training_run.hpp"

namespace maxplus {

std::vector<std::vector<float>> TrainingRun::score(Transformer& transformer,
                                                   std::span<const Experience* const> experiences) {
  return score_experiences(transformer, experiences, static_cast<float>(1.0 / deck_.generation.temperature),
                           engine_->shape().limits.batch_tokens);
}

void TrainingRun::fill_reference(std::span<Experience> experiences) {
  watchdog_->beat("reference");
  std::vector<Experience*> asked;
  for (Experience& experience : experiences) {
    if (experience.assessment.reference_log_prob.size() != experience.rollout.token.size())
      asked.push_back(&experience);
  }
  std::vector<std::vector<float>> log_prob =
      score(*engine_->reference(), std::vector<const Experience*>(asked.begin(), asked.end()));
  for (std::size_t i = 0; i < asked.size(); ++i) asked[i]->assessment.reference_log_prob = std::move(log_prob[i]);
}

void TrainingRun::fill_values(std::span<Experience> experiences) {
  watchdog_->beat("critic");
  std::vector<Experience*> asked;
  for (Experience& experience : experiences) {
    if (experience.assessment.value.size() != experience.rollout.token.size()) asked.push_back(&experience);
  }
  std::vector<std::vector<float>> value =
      value_experiences(*engine_->critic(), std::vector<const Experience*>(asked.begin(), asked.end()),
                        engine_->shape().limits.batch_tokens);
  for (std::size_t i = 0; i < asked.size(); ++i) asked[i]->assessment.value = std::move(value[i]);
}

// Without a record of log-probabilities, the policy's own at the start of the iteration are taken; the same for a
// reference and a critic.
void TrainingRun::fill_missing_scores(std::vector<Experience>* recorded) {
  std::vector<Experience*> asked;
  for (Experience& experience : *recorded) {
    if (experience.rollout.log_prob.empty() && !experience.rollout.token.empty()) asked.push_back(&experience);
  }
  std::vector<std::vector<float>> log_prob =
      score(engine_->policy(), std::vector<const Experience*>(asked.begin(), asked.end()));
  for (std::size_t i = 0; i < asked.size(); ++i) asked[i]->rollout.log_prob = std::move(log_prob[i]);
  if (engine_->reference() != nullptr) fill_reference(*recorded);
  if (engine_->critic() != nullptr) fill_values(*recorded);
}

std::vector<std::vector<float>> TrainingRun::score_together(Transformer& transformer,
                                                            std::span<const Experience* const> experiences) {
  const auto count = std::ssize(experiences);
  std::vector<const Experience*> mine;
  for (const std::int64_t i : dealt_to_rank(count, world_.rank(), world_.size()))
    mine.push_back(experiences[static_cast<std::size_t>(i)]);
  std::vector<float> sent;
  for (const std::vector<float>& log_prob : score(transformer, mine))
    sent.insert(sent.end(), log_prob.begin(), log_prob.end());
  watchdog_->wait("exchange of log-probabilities");
  const std::vector<std::vector<std::byte>> parts = world_.gather_all(std::as_bytes(std::span<const float>(sent)));
  std::vector<std::vector<float>> all(experiences.size());
  for (int rank = 0; rank < world_.size(); ++rank) {
    const std::vector<std::byte>& part = parts[static_cast<std::size_t>(rank)];
    std::size_t at = 0;
    for (const std::int64_t i : dealt_to_rank(count, rank, world_.size())) {
      std::vector<float>& log_prob = all[static_cast<std::size_t>(i)];
      log_prob.resize(experiences[static_cast<std::size_t>(i)]->rollout.token.size());
      const std::size_t bytes = log_prob.size() * sizeof(float);
      MAXPLUS_REQUIRE(at + bytes <= part.size(), "a rank sent fewer log-probabilities than its share");
      if (bytes > 0) std::memcpy(log_prob.data(), part.data() + at, bytes);
      at += bytes;
    }
  }
  return all;
}

void TrainingRun::fill_proximal(Collected* collected) {
  watchdog_->beat("proximal policy");
  std::vector<Experience*> trained;
  for (std::size_t i = 0; i < collected->experiences.size(); ++i) {
    Experience& experience = collected->experiences[i];
    if (!collected->dropped[i] && algorithm_->takes_part(experience)) trained.push_back(&experience);
  }
  std::vector<std::vector<float>> log_prob =
      score_together(engine_->policy(), std::vector<const Experience*>(trained.begin(), trained.end()));
  for (std::size_t i = 0; i < trained.size(); ++i) trained[i]->proximal_log_prob = std::move(log_prob[i]);
}

// One answer to each group's problem, in the order of the groups.
std::vector<Rollout> TrainingRun::draw_greedy(std::span<const GenerationRequest> requests, GenerationRule rule) {
  rule.sampling.greedy = true;
  std::vector<GenerationRequest> single(requests.begin(), requests.end());
  for (GenerationRequest& request : single) request.ids.resize(1);
  return engine_->generator().generate(single, rule, stop_request());
}

// A greedy answer that could not be judged leaves its group without a baseline.
void TrainingRun::fill_greedy_rewards(std::vector<Experience>* experiences, const std::vector<Rollout>& greedy) {
  std::map<std::int64_t, const Problem*> problem_of_group;
  for (const Experience& experience : *experiences)
    problem_of_group.emplace(experience.rollout.group, &experience.problem);
  std::vector<const Problem*> problems;
  for (const Rollout& rollout : greedy) problems.push_back(problem_of_group.at(rollout.group));
  const std::vector<Assessment> judged = assessor_->assess(problems, greedy, [this] {
    watchdog_->beat("assessment");
    return stop_requested();
  });
  std::map<std::int64_t, float> reward_of_group;
  for (std::size_t i = 0; i < greedy.size(); ++i) {
    if (counts(judged[i].verdict)) reward_of_group.emplace(greedy[i].group, judged[i].reward);
  }
  for (Experience& experience : *experiences) {
    const auto reward = reward_of_group.find(experience.rollout.group);
    if (reward != reward_of_group.end()) experience.assessment.greedy_reward = reward->second;
  }
}

}  // namespace maxplus
