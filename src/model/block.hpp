#pragma once
// One layer: x + attention(norm(x)), then x + feed-forward(norm(x)), forward and backward; with biases, norms of heads,
// norms behind both parts, windows and soft caps where its BlockShape has them.
//
// T tokens, C width, H query and G key heads of width D, F feed-forward width, Q = (H + 2 G) D. The residual stream is
// f32. Kept for backward are the inputs of what is dear to compute again (products, attention); norms and SwiGLU are
// recomputed.

#include <span>

#include "device/stream.hpp"
#include "model/linear.hpp"
#include "model/model_config.hpp"
#include "model/norm_weight.hpp"
#include "model/rotary_table.hpp"
#include "model/weight_layout.hpp"
#include "ops/attention.hpp"
#include "tensor/arena.hpp"

namespace maxplus {

// What one layer keeps. Views of the largest T; functions take the rows they need.
struct BlockState {
  enum class Residual { own_middle, in_place };  // in_place: the middle of the layer overwrites its input

  TensorView in, middle;          // [T, C]
  TensorView rms_in, rms_middle;  // [T]
  TensorView qkv;                 // [T, Q], queries and keys turned
  TensorView attention;           // [T, H D]
  TensorView log_sum;             // [T, H], of attention
  TensorView gate_up;             // [T, 2 F]
  // Where the shape has norms of heads: queries and keys before it. Else without extents.
  TensorView raw_heads;  // [T, (H + G) D]
  TensorView rms_heads;  // [T, H + G]
  // Where the shape has norms behind the parts: what these norms are given.
  TensorView attention_part, ffn_part;          // [T, C]
  TensorView rms_attention_part, rms_ffn_part;  // [T]

  BlockState(const ModelConfig& config, std::int64_t tokens, Residual residual, Arena& arena);
  BlockState rows(std::int64_t count) const;
};

// Buffers that all layers use in turn.
struct BlockWork {
  TensorView normed;                                          // [T, C]
  TensorView act;                                             // [T, F]
  TensorView d_normed, d_qkv, d_attention, d_gate_up, d_act;  // for backward
  TensorView scratch;                                         // of kernels

  BlockWork(const ModelConfig& config, std::int64_t tokens, std::int64_t backward_tokens, std::int64_t scratch_elements,
            Arena& arena);
  BlockWork rows(std::int64_t count) const;
  BlockWork backward_rows(std::int64_t count) const;
};

// Where keys and values of one layer stand, and who looks at them.
struct AttentionInput {
  TensorView key_pages, value_pages;
  TensorView page_table, write, position;  // i32 on the device
  std::span<const ops::QuerySegment> queries;
};

class Block {
 public:
  Block(const ModelConfig& config, const BlockShape& shape, const LayerWeights& weights, Linear::Packing packing,
        ops::Arithmetic arithmetic, Arena& packed);

  void pack(const Stream& stream);
  // out [T, C] from state.in [T, C], T being the rows of `state` and `work`; out may be state.in.
  void forward(const Stream& stream, TensorView out, const BlockState& state, const BlockWork& work,
               const AttentionInput& input, const RotaryTable& rotary) const;
  // d_x [T, C]: the gradient of `out`, overwritten by that of state.in. Adds to `gradient`.
  void backward(const Stream& stream, TensorView d_x, const LayerWeights& gradient, const BlockState& state,
                const BlockWork& work, std::span<const ops::TrieSegment> segments, std::int64_t longest,
                TensorView position, const RotaryTable& rotary) const;

  // The largest need of a weight gradient over `tokens` rows.
  std::int64_t scratch_elements(const Stream& stream, std::int64_t tokens) const;

 private:
  // A part's last map and the norm behind it: the norm's input and its inverse rms, kept for backward.
  struct PartEnd {
    const Linear& map;
    const NormWeight& norm;
    TensorView kept, rms;
  };
  // out = residual + norm(map(in)), or without norm.
  void end_part(const Stream& stream, const PartEnd& part, TensorView out, TensorView residual, TensorView in,
                TensorView normed) const;
  // The gradient of map(in) from that of `out`: the same, or brought through the norm into `buffer`.
  TensorView begin_part_backward(const Stream& stream, const PartEnd& part, TensorView d_out, TensorView d_norm_weight,
                                 TensorView buffer) const;

  void project_heads(const Stream& stream, const BlockState& state, TensorView normed, TensorView position,
                     const RotaryTable& rotary) const;
  void project_heads_backward(const Stream& stream, const LayerWeights& gradient, const BlockState& state,
                              const BlockWork& work, TensorView position, const RotaryTable& rotary) const;
  void backward_attention(const Stream& stream, TensorView d_x, const LayerWeights& gradient, const BlockState& state,
                          const BlockWork& work, std::span<const ops::TrieSegment> segments,
                          std::int64_t longest) const;
  void backward_feed_forward(const Stream& stream, TensorView d_x, const LayerWeights& gradient,
                             const BlockState& state, const BlockWork& work) const;
  void activate(const Stream& stream, TensorView act, TensorView gate_up) const;

  const ModelConfig* config_;
  BlockShape shape_;
  LayerWeights weights_;
  Linear qkv_, attention_output_, gate_up_, down_;
  NormWeight attention_norm_, attention_output_norm_, ffn_norm_, ffn_output_norm_;
  float epsilon_;
  ops::AttentionRule rule_;
};

}  // namespace maxplus
