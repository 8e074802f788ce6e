// A layer's forward and backward in terms of kernels/ops.
#include "model/block.hpp"

#include <algorithm>
#include <cmath>

#include "ops/activation.hpp"
#include "ops/bias.hpp"
#include "ops/elementwise.hpp"
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
  if (c.block.query_key_norm) {
    raw_heads = arena.take(DType::f32, {tokens, c.query_columns() + c.kv_columns()});
    rms_heads = arena.take(DType::f32, {tokens, c.heads + c.kv_heads});
  }
  if (c.block.output_norms) {
    for (TensorView* view : {&attention_part, &ffn_part}) *view = arena.take(DType::f32, {tokens, c.width});
    for (TensorView* view : {&rms_attention_part, &rms_ffn_part}) *view = arena.take(DType::f32, {tokens});
  }
}

BlockState BlockState::rows(std::int64_t count) const {
  BlockState part = *this;
  for (TensorView* view : {&part.in, &part.middle, &part.rms_in, &part.rms_middle, &part.qkv, &part.attention,
                           &part.log_sum, &part.gate_up}) {
    *view = view->rows(0, count);
  }
  for (TensorView* view : {&part.raw_heads, &part.rms_heads, &part.attention_part, &part.ffn_part,
                           &part.rms_attention_part, &part.rms_ffn_part}) {
    if (view->rank() > 0) *view = view->rows(0, count);
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

namespace {

ops::AttentionRule rule_of(const ModelConfig& config, const BlockShape& shape) {
  const double scalar = shape.query_scalar > 0 ? shape.query_scalar : static_cast<double>(config.head_width);
  return {static_cast<float>(1.0 / std::sqrt(scalar)), static_cast<float>(shape.attention_cap), shape.window};
}

}  // namespace

Block::Block(const ModelConfig& config, const BlockShape& shape, const LayerWeights& weights, Linear::Packing packing,
             ops::Arithmetic arithmetic, Arena& packed)
    : config_(&config),
      shape_(shape),
      weights_(weights),
      qkv_(weights.qkv, packing, arithmetic, packed),
      attention_output_(weights.attention_output, packing, arithmetic, packed),
      gate_up_(weights.gate_up, packing, arithmetic, packed),
      down_(weights.down, packing, arithmetic, packed),
      attention_norm_(weights.attention_norm, shape.norm_scale, packed),
      attention_output_norm_(weights.attention_output_norm, shape.norm_scale, packed),
      ffn_norm_(weights.ffn_norm, shape.norm_scale, packed),
      ffn_output_norm_(weights.ffn_output_norm, shape.norm_scale, packed),
      epsilon_(static_cast<float>(config.norm_epsilon)),
      rule_(rule_of(config, shape)) {}

void Block::pack(const Stream& stream) {
  for (Linear* map : {&qkv_, &attention_output_, &gate_up_, &down_}) map->pack(stream);
  for (NormWeight* norm : {&attention_norm_, &attention_output_norm_, &ffn_norm_, &ffn_output_norm_})
    norm->pack(stream);
}

void Block::forward(const Stream& stream, TensorView out, const BlockState& state, const BlockWork& work,
                    const AttentionInput& input, const RotaryTable& rotary) const {
  const ModelConfig& c = *config_;
  ops::rms_norm(stream, work.normed, state.rms_in, state.in, attention_norm_.factor(), epsilon_);
  project_heads(stream, state, work.normed, input.position, rotary);
  ops::write_pages(stream, input.key_pages, input.value_pages, state.qkv, input.write, c.heads, c.kv_heads,
                   c.head_width);
  ops::attention(stream, state.attention, state.log_sum, state.qkv, input.key_pages, input.value_pages,
                 input.page_table, input.queries.data(), static_cast<std::int64_t>(input.queries.size()), work.scratch,
                 c.heads, c.kv_heads, c.head_width, rule_);
  end_part(stream, {attention_output_, attention_output_norm_, state.attention_part, state.rms_attention_part},
           state.middle, state.in, state.attention, work.normed);
  ops::rms_norm(stream, work.normed, state.rms_middle, state.middle, ffn_norm_.factor(), epsilon_);
  gate_up_.forward(stream, state.gate_up, work.normed);
  activate(stream, work.act, state.gate_up);
  end_part(stream, {down_, ffn_output_norm_, state.ffn_part, state.rms_ffn_part}, out, state.middle, work.act,
           work.normed);
}

void Block::end_part(const Stream& stream, const PartEnd& part, TensorView out, TensorView residual, TensorView in,
                     TensorView normed) const {
  if (!shape_.output_norms) return part.map.forward_add(stream, out, residual, in);
  part.map.forward(stream, part.kept, in);
  ops::rms_norm(stream, normed, part.rms, part.kept, part.norm.factor(), epsilon_);
  ops::add(stream, out, residual, normed);
}

TensorView Block::begin_part_backward(const Stream& stream, const PartEnd& part, TensorView d_out,
                                      TensorView d_norm_weight, TensorView buffer) const {
  if (!shape_.output_norms) return d_out;
  ops::rms_norm_backward_alone(stream, buffer, d_norm_weight, d_out, part.kept, part.rms, part.norm.factor());
  return buffer;
}

// Queries, keys and values of the normed input, queries and keys turned.
void Block::project_heads(const Stream& stream, const BlockState& state, TensorView normed, TensorView position,
                          const RotaryTable& rotary) const {
  const ModelConfig& c = *config_;
  qkv_.forward(stream, state.qkv, normed);
  if (shape_.qkv_bias) ops::add_bias(stream, state.qkv, weights_.qkv_bias);
  if (shape_.query_key_norm) {
    ops::head_norm(stream, state.qkv, state.raw_heads, state.rms_heads, weights_.query_norm, weights_.key_norm, c.heads,
                   c.kv_heads, c.head_width, epsilon_);
  }
  ops::rotary(stream, state.qkv, rotary.cosine(), rotary.sine(), position, c.heads, c.kv_heads, c.head_width,
              ops::Turn::forward);
}

// work.d_qkv becomes the gradient of the product that projected the heads; its bias and norms get theirs.
void Block::project_heads_backward(const Stream& stream, const LayerWeights& gradient, const BlockState& state,
                                   const BlockWork& work, TensorView position, const RotaryTable& rotary) const {
  const ModelConfig& c = *config_;
  ops::rotary(stream, work.d_qkv, rotary.cosine(), rotary.sine(), position, c.heads, c.kv_heads, c.head_width,
              ops::Turn::backward);
  if (shape_.query_key_norm) {
    ops::head_norm_backward(stream, work.d_qkv, gradient.query_norm, gradient.key_norm, state.raw_heads,
                            state.rms_heads, weights_.query_norm, weights_.key_norm, c.heads, c.kv_heads, c.head_width);
  }
  if (shape_.qkv_bias) ops::bias_gradient(stream, gradient.qkv_bias, work.d_qkv);
}

void Block::backward(const Stream& stream, TensorView d_x, const LayerWeights& gradient, const BlockState& state,
                     const BlockWork& work, std::span<const ops::TrieSegment> segments, std::int64_t longest,
                     TensorView position, const RotaryTable& rotary) const {
  backward_feed_forward(stream, d_x, gradient, state, work);
  backward_attention(stream, d_x, gradient, state, work, segments, longest);
  project_heads_backward(stream, gradient, state, work, position, rotary);
  ops::rms_norm(stream, work.normed, state.rms_in, state.in, attention_norm_.factor(), epsilon_);
  qkv_.backward_weight(stream, gradient.qkv, work.d_qkv, work.normed, work.scratch);
  qkv_.backward_input(stream, work.d_normed, work.d_qkv);
  ops::rms_norm_backward(stream, d_x, gradient.attention_norm, d_x, work.d_normed, state.in, state.rms_in,
                         attention_norm_.factor());
}

// From the gradient of the layer's middle to that of queries, keys and values.
void Block::backward_attention(const Stream& stream, TensorView d_x, const LayerWeights& gradient,
                               const BlockState& state, const BlockWork& work,
                               std::span<const ops::TrieSegment> segments, std::int64_t longest) const {
  const ModelConfig& c = *config_;
  const PartEnd part{attention_output_, attention_output_norm_, state.attention_part, state.rms_attention_part};
  const TensorView d_part = begin_part_backward(stream, part, d_x, gradient.attention_output_norm, work.d_normed);
  attention_output_.backward_weight(stream, gradient.attention_output, d_part, state.attention, work.scratch);
  attention_output_.backward_input(stream, work.d_attention, d_part);
  ops::attention_backward(stream, work.d_qkv, work.d_attention, state.attention, state.log_sum, state.qkv,
                          segments.data(), static_cast<std::int64_t>(segments.size()), longest, work.scratch, c.heads,
                          c.kv_heads, c.head_width, rule_);
}

void Block::backward_feed_forward(const Stream& stream, TensorView d_x, const LayerWeights& gradient,
                                  const BlockState& state, const BlockWork& work) const {
  activate(stream, work.act, state.gate_up);
  const PartEnd part{down_, ffn_output_norm_, state.ffn_part, state.rms_ffn_part};
  const TensorView d_part = begin_part_backward(stream, part, d_x, gradient.ffn_output_norm, work.d_normed);
  down_.backward_weight(stream, gradient.down, d_part, work.act, work.scratch);
  down_.backward_input(stream, work.d_act, d_part);
  if (shape_.activation == BlockShape::Activation::silu) {
    ops::swiglu_backward(stream, work.d_gate_up, work.d_act, state.gate_up);
  } else {
    ops::geglu_backward(stream, work.d_gate_up, work.d_act, state.gate_up);
  }
  ops::rms_norm(stream, work.normed, state.rms_middle, state.middle, ffn_norm_.factor(), epsilon_);
  gate_up_.backward_weight(stream, gradient.gate_up, work.d_gate_up, work.normed, work.scratch);
  gate_up_.backward_input(stream, work.d_normed, work.d_gate_up);
  ops::rms_norm_backward(stream, d_x, gradient.ffn_norm, d_x, work.d_normed, state.middle, state.rms_middle,
                         ffn_norm_.factor());
}

void Block::activate(const Stream& stream, TensorView act, TensorView gate_up) const {
  if (shape_.activation == BlockShape::Activation::silu) {
    ops::swiglu(stream, act, gate_up);
  } else {
    ops::geglu(stream, act, gate_up);
  }
}

std::int64_t Block::scratch_elements(const Stream& stream, std::int64_t tokens) const {
  std::int64_t most = 0;
  for (const Linear* map : {&qkv_, &attention_output_, &gate_up_, &down_}) {
    most = std::max(most, map->scratch_elements(stream, tokens));
  }
  return most;
}

}  // namespace maxplus
