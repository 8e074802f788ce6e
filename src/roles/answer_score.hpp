#pragma once
// Scores of whole answers by a network with one label: behind the last token, or behind every step (a process reward).

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "deck/tables.hpp"
#include "model/transformer.hpp"
#include "rl/sample.hpp"
#include "text/tokenizer.hpp"

namespace maxplus {

struct ScoreRule {
  enum class Combine : std::uint8_t { min, mean, product, last };  // of the scores of an answer's steps
  bool of_steps = false;
  std::string step_mark;
  Combine combine = Combine::min;
  bool sigmoid = false;  // each score through 1 / (1 + exp(-x)), before they are combined
};

ScoreRule score_rule(const RewardModelTable& table);

// The tokens behind which a step is complete: those in which an occurrence of the mark ends (occurrences do not
// overlap), and the last one. Empty for an answer without tokens.
std::vector<std::size_t> step_ends(const Tokenizer& tokenizer, std::span<const std::int32_t> tokens,
                                   std::string_view mark);

// Of one answer, from the raw scores of its steps, at least one.
float combined_score(std::span<const float> steps, const ScoreRule& rule);

// A score an experience. The tokenizer may be null for rules without steps.
std::vector<float> score_answers(Transformer& network, std::span<const Experience* const> experiences,
                                 std::int64_t batch_tokens, const ScoreRule& rule, const Tokenizer* tokenizer);

}  // namespace maxplus
