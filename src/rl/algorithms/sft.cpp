#include "rl/algorithms/sft.hpp"

#include "base/error.hpp"

namespace maxplus {

void Sft::fill_advantages(std::span<Experience> whole_groups) const {
  for (Experience& experience : whole_groups) {
    const std::vector<std::uint8_t>& trainable = experience.rollout.trainable;
    if (experience.advantage.empty()) experience.advantage.assign(trainable.size(), 1.0f);
    MAXPLUS_REQUIRE(experience.advantage.size() == trainable.size(), "one weight a response token");
    for (std::size_t t = 0; t < trainable.size(); ++t) {
      if (trainable[t] == 0) experience.advantage[t] = 0;
    }
  }
}

bool Sft::takes_part(const Experience& experience) const {
  return imitate_ == Imitate::all || (counts(experience.assessment.verdict) && experience.assessment.reward > 0);
}

StepStatistics Sft::prepare(std::span<const Experience* const> step) const {
  StepStatistics statistics;
  for (const Experience* experience : step) {
    statistics.sequences += 1;
    for (std::size_t t = 0; t < experience->rollout.trainable.size(); ++t) {
      if (experience->rollout.trainable[t] != 0) statistics.tokens += static_cast<double>(experience->advantage.at(t));
    }
  }
  return statistics;
}

TokenLoss Sft::loss(const TokenTerms& terms, const StepStatistics& statistics) const {
  const std::size_t tokens = terms.trainable.size();
  MAXPLUS_REQUIRE(terms.log_prob.size() == tokens && terms.advantage.size() == tokens, "one value a response token");
  const double denominator = statistics.tokens > 0 ? statistics.tokens : 1.0;
  TokenLoss loss;
  loss.d_log_prob.assign(tokens, 0.0f);
  loss.d_entropy.assign(tokens, 0.0f);
  double sum = 0;
  for (std::size_t t = 0; t < tokens; ++t) {
    if (terms.trainable[t] == 0) continue;
    const double weight = static_cast<double>(terms.advantage[t]);
    sum -= weight * static_cast<double>(terms.log_prob[t]);
    loss.d_log_prob[t] = static_cast<float>(-weight / denominator);
    if (!terms.entropy.empty()) loss.entropy_sum += static_cast<double>(terms.entropy[t]);
    loss.tokens += 1;
  }
  loss.policy = sum / denominator;
  loss.loss = loss.policy;
  // There is no sampler to compare with: the ratio is 1.
  loss.ratio_sum = loss.importance_sum = loss.importance_square_sum = static_cast<double>(loss.tokens);
  loss.ratio_min = loss.ratio_max = loss.importance_max = 1;
  return loss;
}

std::vector<std::string> Sft::describe() const {
  std::vector<std::string> lines = {
      "algorithm sft: loss = -(sum of weight * log-probability over the step's trainable tokens) / (sum of weights)"};
  if (imitate_ == Imitate::rewarded) lines.emplace_back("only answers with a reward above 0 are imitated");
  return lines;
}

Experience experience_of_demonstration(std::span<const std::int32_t> prompt, std::span<const std::int32_t> response,
                                       std::span<const float> weight, std::int64_t number) {
  MAXPLUS_REQUIRE(weight.empty() || weight.size() == response.size(), "no weights, or one a response token");
  Experience experience;
  experience.problem.id = number;
  experience.problem.prompt.assign(prompt.begin(), prompt.end());
  experience.rollout.problem = number;
  experience.rollout.group = number;
  experience.rollout.token.assign(response.begin(), response.end());
  experience.rollout.trainable.assign(response.size(), 1);
  experience.assessment.verdict = Verdict::correct;
  experience.advantage.assign(weight.begin(), weight.end());
  if (weight.empty()) experience.advantage.assign(response.size(), 1.0f);
  return experience;
}

}  // namespace maxplus
