#pragma once
// Supervised training on demonstrations: cross-entropy with a weight a token, which stands in Experience::advantage.
//
//   loss = -(sum over the step's trainable tokens of w lp) / (sum of their w)
//
// StepStatistics::tokens is that sum of weights, so that the loss stays a mean whatever the weights are.

#include <cstdint>
#include <memory>
#include <span>

#include "rl/algorithms/algorithm.hpp"

namespace maxplus {

class Sft final : public Algorithm {
 public:
  enum class Imitate { all, rewarded };  // rewarded: rejection sampling, answers with a reward above 0
  explicit Sft(Imitate imitate = Imitate::all) : imitate_(imitate) {}

  Needs needs() const override { return {}; }
  // Weight 1 for every trainable token, where no weights were given.
  void fill_advantages(std::span<Experience> whole_groups) const override;
  bool takes_part(const Experience& experience) const override;
  StepStatistics prepare(std::span<const Experience* const> step) const override;
  TokenLoss loss(const TokenTerms& terms, const StepStatistics& statistics) const override;
  std::vector<std::string> describe() const override;

 private:
  Imitate imitate_;
};

// A demonstration in the form that packing and the loss take: group and index are its number, log-probabilities of a
// sampler do not exist. `weight` is empty (1 each) or has a value a response token.
Experience experience_of_demonstration(std::span<const std::int32_t> prompt, std::span<const std::int32_t> response,
                                       std::span<const float> weight, std::int64_t number);

}  // namespace maxplus
