#pragma once
// The shape of a network, whatever file it came from.

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/error.hpp"
#include "model/block_shape.hpp"

namespace maxplus {

// Rotary frequency scaling. `llama3`: Llama 3.1's rule in three branches by wavelength. `yarn`: slow frequencies are
// stretched, fast ones stay, between them by a ramp over the pairs (Peng et al., 2023).
struct RotaryScaling {
  enum class Kind : std::uint8_t { none, llama3, yarn } kind = Kind::none;
  enum class Ramp : std::uint8_t { whole_pairs, exact };  // whether the ramp's ends are rounded outwards
  double factor = 1;
  std::int64_t original_context = 8192;
  double low_frequency_factor = 1, high_frequency_factor = 4;  // llama3
  double beta_fast = 32, beta_slow = 1;                        // yarn: turns within the original context at its ends
  Ramp ramp = Ramp::whole_pairs;                               // yarn
  // yarn: queries and keys are multiplied by attention_factor, or, where that is 0, by what the other two say.
  double attention_factor = 0, mscale = 0, mscale_all_dim = 0;
};

struct ModelConfig {
  std::string family = "llama";
  std::int64_t vocabulary = 0, width = 0, layers = 0, heads = 0, kv_heads = 0, head_width = 0, ffn_width = 0,
               context = 0;
  bool tie_embeddings = false;
  bool token_head = true;   // from a row to logits of the next token
  bool value_head = false;  // from a row to one number: what a critic says of the tokens up to it
  double norm_epsilon = 1e-5, rotary_theta = 10000.0;
  RotaryScaling rotary_scaling;
  BlockShape block;                               // of every layer, but for the window
  std::vector<std::int64_t> windows;              // of the layers, 0: none; empty: none has one
  double embedding_scale = 1;                     // looked-up embeddings are multiplied by it
  double logit_cap = 0;                           // soft cap of the head's logits; 0: none
  std::int32_t begin_token = -1, end_token = -1;  // -1: none

  // Whether lookup and head are one matrix.
  bool tied() const { return token_head && tie_embeddings; }
  std::int64_t query_columns() const { return heads * head_width; }
  std::int64_t kv_columns() const { return kv_heads * head_width; }
  std::int64_t qkv_columns() const { return query_columns() + 2 * kv_columns(); }
  BlockShape block_of(std::int64_t layer) const {
    BlockShape shape = block;
    shape.window = windows.empty() ? 0 : windows[static_cast<std::size_t>(layer)];
    return shape;
  }
};

// From a published config.json, in the form with rope_theta/rope_scaling/torch_dtype or the newer one with
// rope_parameters. `where` names the file in errors. Throws Error(ExitCode::data) for what is missing, of a wrong type,
// or not supported.
ModelConfig read_model_config(const nlohmann::json& config, const std::string& where);
// In the older, widely read form. A network with a value head alone is a sequence classifier with one label; where it
// has both heads, the file tells of the token head only.
nlohmann::ordered_json write_model_config(const ModelConfig& config);

// What is wrong with a shape, whatever file or deck it came from: extents, divisibility, limits. Empty: nothing.
std::vector<Fault> model_config_faults(const ModelConfig& config, const std::string& where);

// Exact counts: elements of all weights (a tied matrix once); of those multiplied for every token, and for every scored
// one.
std::int64_t parameter_count(const ModelConfig& config);
std::int64_t body_matrix_count(const ModelConfig& config);
std::int64_t head_matrix_count(const ModelConfig& config);

}  // namespace maxplus
