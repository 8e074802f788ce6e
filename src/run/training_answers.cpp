// Iterations over a file of answers instead of drawn ones, and their evaluation.
#include <utility>

#include "roles/answer_score.hpp"
#include "roles/exchange.hpp"
#include "run/training_run.hpp"

namespace maxplus {

// The next lines of the file, each a group; every rank reads them.
Collected TrainingRun::collect_answers(std::int64_t iteration) {
  watchdog_->beat("answers");
  Collected collected, all;
  const std::int64_t groups = deck_.generation.problems_per_iteration;
  collected.facts.groups = collected.facts.problems_taken = groups;
  for (std::int64_t slot = 0; slot < groups; ++slot) {
    std::uint32_t index = 0;
    for (Experience& experience : inputs_.answers->at(inputs_.order->at(state_.problem_cursor + slot))) {
      experience.rollout.id = {static_cast<std::uint32_t>(iteration), 0, static_cast<std::uint32_t>(slot), index++};
      experience.rollout.group = slot;
      experience.rollout.version.assign(experience.rollout.token.size(),
                                        static_cast<std::int32_t>(state_.policy_version));
      collected.experiences.push_back(std::move(experience));
    }
  }
  append(&all, std::move(collected), groups);
  return all;
}

// The share of held-out pairs whose chosen answer is worth more to the rule than the rejected one.
void TrainingRun::evaluate_answers(MetricsRow* row) {
  const AnswerSource& source = *inputs_.held_out_answers;
  std::vector<Experience> mine;
  for (const std::int64_t line : dealt_to_rank(source.size(), world_.rank(), world_.size())) {
    for (Experience& experience : source.at(line)) {
      experience.rollout.group = line;
      mine.push_back(std::move(experience));
    }
  }
  if (engine_->reference() != nullptr) {
    fill_reference(mine,
                   [this](std::span<const Experience* const> asked) { return score(*engine_->reference(), asked); });
  }
  std::vector<const Experience*> asked;
  for (const Experience& experience : mine) asked.push_back(&experience);
  const bool scored = algorithm_->needs().answer_score;
  std::vector<std::vector<float>> log_prob(asked.size());
  std::vector<float> answer_score(asked.size());
  if (scored) {
    answer_score = score_answers(engine_->policy(), asked, engine_->shape().limits.batch_tokens, {}, nullptr);
  } else {
    log_prob = score(engine_->policy(), asked);
  }
  const auto worth = [&](std::size_t i) {
    TokenTerms terms;
    terms.log_prob = log_prob[i];
    terms.value = std::span<const float>(&answer_score[i], 1);
    terms.reference_log_prob = mine[i].assessment.reference_log_prob;
    terms.trainable = mine[i].rollout.trainable;
    return algorithm_->worth(terms);
  };
  std::int64_t right = 0;
  for (std::size_t i = 0; i + 1 < mine.size(); i += 2) right += worth(i) > worth(i + 1) ? 1 : 0;
  watchdog_->wait("sum of the evaluation");
  right = world_.sum(right);
  row->set("eval_problems", source.size());
  row->set("eval_preference_accuracy", static_cast<double>(right) / static_cast<double>(source.size()));
}

}  // namespace maxplus
