#pragma once
// What a layer is made of: the parts that tell one family of networks from another. A family fills it; the network
// only reads it.

#include <cstdint>

namespace maxplus {

struct BlockShape {
  enum class Activation : std::uint8_t { silu, gelu_tanh };  // of the gates
  enum class NormScale : std::uint8_t { weight, one_plus_weight };

  Activation activation = Activation::silu;
  NormScale norm_scale = NormScale::weight;  // what a norm multiplies by; the final norm's too
  bool qkv_bias = false;                     // biases of queries, keys and values
  bool query_key_norm = false;               // a norm of every query and key head before it is turned
  bool output_norms = false;                 // norms behind attention and feed-forward, besides those before them
  double query_scalar = 0;                   // scores are multiplied by 1 / sqrt of this; 0: the head's width
  double attention_cap = 0;                  // soft cap of scores; 0: none
  std::int64_t window = 0;                   // positions that a token sees, itself included; 0: all before it
};

}  // namespace maxplus
