#pragma once
// A family of networks: what its layers are made of and how its published files name things. One source file a family,
// one line in registry.cpp.

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "model/config_reader.hpp"
#include "model/model_config.hpp"

namespace maxplus {

// What a weight is for; decides its random start, whether it decays and where the network finds it.
enum class WeightRole : std::uint8_t {
  embedding,
  attention_norm,
  query,
  key,
  value,
  query_bias,
  key_bias,
  value_bias,
  query_norm,
  key_norm,
  attention_output,
  attention_output_norm,
  ffn_norm,
  gate,
  up,
  down,
  ffn_output_norm,
  final_norm,
  head,
  score,
};

struct WeightSpec {
  std::string name;  // as published
  WeightRole role;
  std::int64_t layer;  // -1 outside of layers
  std::vector<std::int64_t> extents;
};

// The matrix of a value head, as sequence classifiers call it.
inline constexpr const char* kScoreWeight = "score.weight";

// Which layers have a sliding window.
enum class WindowLayers : std::uint8_t { none, all, even };

struct Family {
  std::string_view name;          // "model_type" of a config.json
  std::string_view architecture;  // its entry in "architectures"

  // What is meant where a shape of a deck does not say.
  struct Defaults {
    double norm_epsilon, rotary_theta;
    std::int64_t window;  // 0: none
  } defaults;
  // What is meant where a config.json does not say.
  struct FileDefaults {
    bool tie_embeddings;
    std::int64_t head_width;          // 0: width over heads
    std::string_view activation_key;  // whose value is the gates' activation
  } file_defaults;
  WindowLayers windows;

  // Fills block, embedding_scale and logit_cap once the extents are known: the family's own values.
  void (*complete)(ModelConfig& config);
  // Family-specific keys of a config.json, after the common ones and `complete`.
  void (*read)(ConfigReader& reader, ModelConfig& config);
  void (*write)(nlohmann::ordered_json& json, const ModelConfig& config);
  // All weights in storage order: embedding, layers, final norm, head if untied, score with a value head. Within a
  // layer query, key and value, their biases, and gate and up, stand one after the other, because they are multiplied
  // as one matrix.
  std::vector<WeightSpec> (*weights)(const ModelConfig& config);
};

// Throws Error(ExitCode::data) naming the families there are.
const Family& find_family(std::string_view name, const std::string& where);
std::vector<std::string> family_names();

// The dense layout with published names "model.layers.N. ..." that several families share; biases and norms as
// config.block has them.
std::vector<WeightSpec> dense_weights(const ModelConfig& config);

// Windows of the layers of a pattern; empty where window is 0 or no layer has one.
std::vector<std::int64_t> windows_of(WindowLayers pattern, std::int64_t layers, std::int64_t window);
// "layer_types" of a config.json where it is there, else the pattern.
std::vector<std::int64_t> read_windows(ConfigReader& reader, const ModelConfig& config, WindowLayers pattern,
                                       std::int64_t window);
// The one width of the windows; 0: there are none.
std::int64_t window_width(const ModelConfig& config);
// "layer_types", which newer readers prefer to a family's pattern.
void write_layer_types(nlohmann::ordered_json& json, const ModelConfig& config);
// A fault for each of these keys that is true.
void refuse_flags(ConfigReader& reader, std::initializer_list<const char*> keys);

extern const Family kLlamaFamily, kQwen2Family, kQwen3Family, kMistralFamily, kGemma2Family;

}  // namespace maxplus
