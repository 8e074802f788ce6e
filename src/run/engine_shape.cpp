#include "run/engine_shape.hpp"

#include <algorithm>
#include <string>

#include "rl/algorithms/algorithm.hpp"
#include "run/machine.hpp"

namespace maxplus {

namespace {

StoredType stored_type(const std::string& name) {
  if (name == "bf16") return StoredType::bf16;
  return name == "q8_0" ? StoredType::q8 : StoredType::f32;
}

}  // namespace

EngineShape engine_shape(const Deck& deck, const RunInputs& inputs) {
  const std::int64_t answers = std::max(deck.generation.max_new_tokens, deck.eval.max_new_tokens);
  const std::int64_t drawn = std::min(inputs.model.config.context, inputs.longest_prompt + answers);
  // Of rules that compare the answers of a group, two stand in one batch.
  const std::int64_t together = drawn + (joins_groups(deck.algorithm) ? answers : 0);
  const std::int64_t longest = std::max(inputs.answers ? 1 : together, inputs.longest_recorded);
  EngineShape shape;
  shape.model = inputs.model.config;
  shape.arithmetic = arithmetic_here(deck.model.compute);
  if (deck.generation.compute) shape.drawing = arithmetic_here(*deck.generation.compute);
  shape.threads = static_cast<int>(deck.run.threads);
  // A sequence that a file brings may be as long as the context, so a batch always has room for one.
  shape.limits.batch_tokens =
      std::max(deck.optimizer.micro_batch_tokens,
               deck.warm_start && !deck.warm_start->train.empty() ? inputs.model.config.context : longest);
  shape.limits.batch_segments = shape.limits.batch_tokens;
  Generator::Limits generation;
  generation.rows = deck.generation.batch_rollouts;
  generation.group_size = std::max(deck.generation.group_size, deck.eval.samples);
  generation.prompt_tokens = std::max<std::int64_t>(1, inputs.longest_prompt);
  generation.new_tokens = answers;
  generation.prefill_tokens =
      std::max(generation.rows, std::min<std::int64_t>(1024, generation.prompt_tokens * generation.rows));
  if (!inputs.answers && shape.model.token_head) {
    shape.generation = generation;
    shape.limits.extend_tokens = generation.prefill_tokens;
    shape.limits.extend_rows = Generator::rows_asked(generation);
  }
  shape.limits.head_block = head_block_rows(inputs.model.config.vocabulary);
  shape.optimizer = deck.optimizer;
  if (deck.reference) {
    shape.reference = {inputs.reference ? inputs.reference->config : inputs.model.config,
                       stored_type(deck.reference->weights)};
    shape.reference->model.value_head = false;
  }
  if (inputs.reward_model) shape.reward_model = {inputs.reward_model->config, stored_type(deck.reward_model->weights)};
  if (!deck.critic) return shape;
  if (deck.critic->shared) {
    shape.model.value_head = true;
  } else {
    EngineShape::Critic critic{inputs.critic ? inputs.critic->config : inputs.model.config,
                               critic_optimizer(deck.optimizer, *deck.critic)};
    critic.model.token_head = false;
    critic.model.value_head = true;
    shape.critic = critic;
  }
  return shape;
}

}  // namespace maxplus
