#pragma once
// A family of networks: how its published files name things. One source file a family, one line in registry.cpp.

#include <cstdint>
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
  attention_output,
  ffn_norm,
  gate,
  up,
  down,
  final_norm,
  head,
};

struct WeightSpec {
  std::string name;  // as published
  WeightRole role;
  std::int64_t layer;  // -1 outside of layers
  std::vector<std::int64_t> extents;
};

struct Family {
  std::string_view name;          // "model_type" of a config.json
  std::string_view architecture;  // its entry in "architectures"
  // Family-specific keys, after the common ones have been read into `config`.
  void (*read)(ConfigReader& reader, ModelConfig& config);
  void (*write)(nlohmann::ordered_json& json, const ModelConfig& config);
  // All weights in storage order: embedding, layers, final norm, head if untied. Within a layer query, key and value,
  // and gate and up, stand one after the other, because they are multiplied as one matrix.
  std::vector<WeightSpec> (*weights)(const ModelConfig& config);
};

// Throws Error(ExitCode::data) naming the families there are.
const Family& find_family(std::string_view name, const std::string& where);
std::vector<std::string> family_names();

// The dense layout with published names "model.layers.N. ..." that several families share.
std::vector<WeightSpec> dense_weights(const ModelConfig& config);

extern const Family kLlamaFamily;

}  // namespace maxplus
