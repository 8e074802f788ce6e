// A layer's forward and backward in terms of kernels/ops.
#include "model/block.hpp"

#include <algorithm>
#include <cmath>

#include "ops/activation.hpp"
#include "ops/norm.hpp"
#include "ops/rotary.hpp"

namespace maxplus {

BlockState::BlockState(const ModelConfig& c, std::int64_t tokens, Residual residual, Arena& arena) {
  in = arena.take(DType::f32, {tokens, c.width});
  middle = residual == Residual::own_middle ? arena.take(DType::f32, {tokens, c.width}) : in;
  rms_in = arena.take(DType::f32, {tokens});
  rms_middle = arena.take(DType::f32, {tokens});
  qkv = arena.take(DType::f32, {tokens, c.qkv_columns()});
  attention = arena.take(DType::f32, {tokens, c.query_columns()});
  log_sum = arena.take(DType::f32, {tokens, c.heads});
  gate_up = arena.take(DType::f32, {tokens, 2 * c.ffn_width});
}

BlockState BlockState::rows(std::int64_t count) const {
  BlockState part = *this;
  for (TensorView* view : {&part.in, &part.middle, &part.rms_in, &part.rms_middle, &part.qkv, &part.attention,
                           &part.log_sum, &part.gate_up}) {
    *view = view->rows(0, count);
  }
  return part;
}

BlockWork::BlockWork(const ModelConfig& c, std::int64_t tokens, std::int64_t backward_tokens,
                     std::int64_t scratch_elements, Arena& arena) {
  normed = arena.take(DType::f32, {tokens, c.width});
  act = arena.take(DType::f32, {tokens, c.ffn_width});
  d_normed = arena.take(DType::f32, {backward_tokens, c.width});
  d_qkv = arena.take(DType::f32, {backward_tokens, c.qkv_columns()});
  d_attention = arena.take(DType::f32, {backward_tokens, c.query_columns()});
  d_gate_up = arena.take(DType::f32, {backward_tokens, 2 * c.ffn_width});
  d_act = arena.take(DType::f32, {backward_tokens, c.ffn_width});
  scratch = arena.take(DType::f32, {scratch_elements});
}

BlockWork BlockWork::rows(std::int64_t count) const {
  BlockWork part = *this;
  for (TensorView* view : {&part.normed, &part.act}) *view = view->rows(0, count);
  return part;
}

BlockWork BlockWork::backward_rows(std::int64_t count) const {
  BlockWork part = rows(count);
  for (TensorView* view : {&part.d_normed, &part.d_qkv, &part.d_attention, &part.d_gate_up, &part.d_act}) {
    *view = view->rows(0, count);
  }
  return part;
}

Block::Block(const ModelConfig& config, const LayerWeights& weights, Linear::Packing packing,
             ops::Arithmetic arithmetic, Arena& packed)
    : config_(&config),
      weights_(weights),
      qkv_(weights.qkv, packing, arithmetic, packed),
      attention_output_(weights.attention_output, packing, arithmetic, packed),
      gate_up_(weights.gate_up, packing, arithmetic, packed),
      down_(weights.down, packing, arithmetic, packed),
      epsilon_(static_cast<float>(config.norm_epsilon)),
      scale_(static_cast<float>(1.0 / std::sqrt(static_cast<double>(config.head_width)))) {}

void Block::pack(const Stream& stream) {
  for (Linear* map : {&qkv_, &attention_output_, &gate_up_, &down_}) map->pack(stream);
}

void Block::forward(const Stream& stream, TensorView out, const BlockState& state, const BlockWork& work,
                    const AttentionInput& input, const RotaryTable& rotary) const {
  const ModelConfig& c = *config_;
  ops::rms_norm(stream, work.normed, state.rms_in, state.in, weights_.attention_norm, epsilon_);
  qkv_.forward(stream, state.qkv, work.normed);
  ops::rotary(stream, state.qkv, rotary.cosine(), rotary.sine(), input.position, c.heads, c.kv_heads, c.head_width,
              ops::Turn::forward);
  ops::write_pages(stream, input.key_pages, input.value_pages, state.qkv, input.write, c.heads, c.kv_heads,
                   c.head_width);
  ops::attention(stream, state.attention, state.log_sum, state.qkv, input.key_pages, input.value_pages,
                 input.page_table, input.queries.data(), static_cast<std::int64_t>(input.queries.size()), work.scratch,
                 c.heads, c.kv_heads, c.head_width, scale_);
  attention_output_.forward_add(stream, state.middle, state.in, state.attention);
  ops::rms_norm(stream, work.normed, state.rms_middle, state.middle, weights_.ffn_norm, epsilon_);
  gate_up_.forward(stream, state.gate_up, work.normed);
  ops::swiglu(stream, work.act, state.gate_up);
  down_.forward_add(stream, out, state.middle, work.act);
}

void Block::backward(const Stream& stream, TensorView d_x, const LayerWeights& gradient, const BlockState& state,
                     const BlockWork& work, std::span<const ops::TrieSegment> segments, std::int64_t longest,
                     TensorView position, const RotaryTable& rotary) const {
  const ModelConfig& c = *config_;
  backward_feed_forward(stream, d_x, gradient, state, work);
  attention_output_.backward_weight(stream, gradient.attention_output, d_x, state.attention, work.scratch);
  attention_output_.backward_input(stream, work.d_attention, d_x);
  ops::attention_backward(stream, work.d_qkv, work.d_attention, state.attention, state.log_sum, state.qkv,
                          segments.data(), static_cast<std::int64_t>(segments.size()), longest, work.scratch, c.heads,
                          c.kv_heads, c.head_width, scale_);
  ops::rotary(stream, work.d_qkv, rotary.cosine(), rotary.sine(), position, c.heads, c.kv_heads, c.head_width,
              ops::Turn::backward);
  ops::rms_norm(stream, work.normed, state.rms_in, state.in, weights_.attention_norm, epsilon_);
  qkv_.backward_weight(stream, gradient.qkv, work.d_qkv, work.normed, work.scratch);
  qkv_.backward_input(stream, work.d_normed, work.d_qkv);
  ops::rms_norm_backward(stream, d_x, gradient.attention_norm, d_x, work.d_normed, state.in, state.rms_in,
                         weights_.attention_norm);
}

void Block::backward_feed_forward(const Stream& stream, TensorView d_x, const LayerWeights& gradient,
                                  const BlockState& state, const BlockWork& work) const {
  ops::swiglu(stream, work.act, state.gate_up);
  down_.backward_weight(stream, gradient.down, d_x, work.act, work.scratch);
  down_.backward_input(stream, work.d_act, d_x);
  ops::swiglu_backward(stream, work.d_gate_up, work.d_act, state.gate_up);
  ops::rms_norm(stream, work.normed, state.rms_middle, state.middle, weights_.ffn_norm, epsilon_);
  gate_up_.backward_weight(stream, gradient.gate_up, work.d_gate_up, work.normed, work.scratch);
  gate_up_.backward_input(stream, work.d_normed, work.d_gate_up);
  ops::rms_norm_backward(stream, d_x, gradient.ffn_norm, d_x, work.d_normed, state.middle, state.rms_middle,
                         weights_.ffn_norm);
}

std::int64_t Block::scratch_elements(const Stream& stream, std::int64_t tokens) const {
  std::int64_t most = 0;
  for (const Linear* map : {&qkv_, &attention_output_, &gate_up_, &down_}) {
    most = std::max(most, map->scratch_elements(stream, tokens));
  }
  return most;
}

}  // namespace maxplus
