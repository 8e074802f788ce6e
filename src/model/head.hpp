#pragma once
// From the last hidden states to logits of chosen rows, and to log-probabilities and back a block of rows at a time.
//
// T tokens, C width, V vocabulary, R chosen rows, N targets. Only rows that are asked for are multiplied; no buffer of
// tokens x vocabulary exists: backward computes the logits of a block again.

#include <cstdint>
#include <span>
#include <vector>

#include "device/stream.hpp"
#include "model/chosen_rows.hpp"
#include "model/linear.hpp"
#include "model/model_config.hpp"
#include "model/transformer.hpp"
#include "model/weight_layout.hpp"
#include "tensor/arena.hpp"

namespace maxplus {

class Head {
 public:
  Head(ChosenRows& chosen, const ModelConfig& config, const WeightViews& weights, Transformer::Use use,
       ops::Arithmetic arithmetic, const TransformerLimits& limits, Arena& packed, Arena& activations);

  void pack(const Stream& stream);
  void forget();  // the hidden states have changed
  // logits [rows, V] of rows of x [T, C]. Valid until the next call.
  TensorView logits(const Stream& stream, TensorView x, std::span<const std::int32_t> rows);
  void score(const Stream& stream, TensorView x, const HeadTargets& targets, float inverse_temperature,
             std::span<float> log_prob, std::span<float> entropy);
  // Of the last score, x being unchanged: chosen.d_normed() overwritten, the gradient of head [V, C] added to.
  void backward(const Stream& stream, TensorView d_head_weight, std::span<const float> d_log_prob,
                std::span<const float> d_entropy, TensorView scratch);

  std::int64_t scratch_elements(const Stream& stream) const;  // of backward

 private:
  // A range of rows that is worked off at once, and the targets in it.
  struct RowBlock {
    std::int64_t first_row, rows, first_target, targets;
  };

  void plan(const HeadTargets& targets);
  void multiply(const Stream& stream, TensorView logits, TensorView normed) const;

  ChosenRows& chosen_;
  std::int64_t vocabulary_, block_rows_;
  float cap_;  // a soft cap of 0: none
  Linear head_;
  TensorView target_row_, target_;                     // i32 [N] (within its block), [N]
  TensorView logits_;                                  // [block, V]
  TensorView capped_;                                  // [block, V] of backward, where there is a soft cap
  TensorView maximum_, log_sum_, entropy_, log_prob_;  // [R], [R], [R], [N]
  TensorView d_log_prob_, d_entropy_;                  // [N]; training only

  std::vector<std::int32_t> rows_, row_of_target_;  // of the last score: chosen rows; per target an index into them
  std::vector<RowBlock> blocks_;
  bool first_logits_stand_ = false;  // whether logits_ holds those of the last score's first block
  float inverse_temperature_ = 1;
};

}  // namespace maxplus
