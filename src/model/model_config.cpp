// Reading and writing config.json: the common keys here, a family's own in families/.
#include "model/model_config.hpp"

#include <array>
#include <cmath>
#include <functional>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "model/config_reader.hpp"
#include "model/families/family.hpp"

namespace maxplus {

namespace {

// Limits far beyond any published model; below them no product of extents leaves 64 bits.
constexpr std::int64_t kMaxVocabulary = std::int64_t{1} << 24, kMaxWidth = std::int64_t{1} << 20, kMaxLayers = 4096;
constexpr std::string_view kClassifier = "ForSequenceClassification", kLanguageModel = "ForCausalLM";
constexpr std::int64_t kMaxContext = std::int64_t{1} << 20;  // angles below 2^20 are exact enough (base/exact_math)

void read_yarn(ConfigReader& reader, RotaryScaling& scaling, std::int64_t context) {
  scaling.kind = RotaryScaling::Kind::yarn;
  scaling.factor = reader.number("factor");
  scaling.original_context = reader.whole_or("original_max_position_embeddings", context);
  scaling.beta_fast = reader.number_or("beta_fast", scaling.beta_fast);
  scaling.beta_slow = reader.number_or("beta_slow", scaling.beta_slow);
  scaling.ramp = reader.flag_or("truncate", true) ? RotaryScaling::Ramp::whole_pairs : RotaryScaling::Ramp::exact;
  scaling.attention_factor = reader.number_or("attention_factor", 0);
  scaling.mscale = reader.number_or("mscale", 0);
  scaling.mscale_all_dim = reader.number_or("mscale_all_dim", 0);
}

void read_scaling(ConfigReader& top, const nlohmann::json& object, const std::string& key, ModelConfig& config) {
  ConfigReader reader(object, fmt::format("{}: {}", top.where(), key));
  const std::string type = reader.text_or("rope_type", reader.text_or("type", "default"));
  RotaryScaling& scaling = config.rotary_scaling;
  if (type == "llama3") {
    scaling.kind = RotaryScaling::Kind::llama3;
    scaling.factor = reader.number("factor");
    scaling.low_frequency_factor = reader.number("low_freq_factor");
    scaling.high_frequency_factor = reader.number("high_freq_factor");
    scaling.original_context = reader.whole("original_max_position_embeddings");
  } else if (type == "yarn") {
    read_yarn(reader, scaling, config.context);
  } else if (type != "default") {
    reader.fault(fmt::format("rotary scaling '{}' is not supported", type), "default, llama3 or yarn",
                 "use a model without it");
  }
  for (const char* per_layer : {"full_attention", "sliding_attention"}) {
    if (reader.has(per_layer)) reader.fault("rotary parameters differ between layers", "one set for all layers", "");
  }
  const double share = reader.number_or("partial_rotary_factor", 1.0);
  if (share != 1.0) reader.fault(fmt::format("'partial_rotary_factor' is {}", share), "1", "");
  reader.finish();
}

// Both forms: rope_theta and rope_scaling, or rope_parameters with everything inside.
void read_rotary(ConfigReader& reader, ModelConfig& config) {
  config.rotary_theta = reader.number_or("rope_theta", 10000.0);
  if (reader.has("rope_scaling")) read_scaling(reader, reader.object()["rope_scaling"], "rope_scaling", config);
  if (reader.has("rope_parameters")) {
    const nlohmann::json& parameters = reader.object()["rope_parameters"];
    ConfigReader inner(parameters, reader.where() + ": rope_parameters");
    config.rotary_theta = inner.number_or("rope_theta", config.rotary_theta);
    inner.finish();
    read_scaling(reader, parameters, "rope_parameters", config);
  }
  const double share = reader.number_or("partial_rotary_factor", 1.0);
  if (share != 1.0) reader.fault(fmt::format("'partial_rotary_factor' is {}", share), "1", "");
}

void read_shape(ConfigReader& reader, const Family& family, ModelConfig& config) {
  config.vocabulary = reader.whole("vocab_size");
  config.width = reader.whole("hidden_size");
  config.ffn_width = reader.whole("intermediate_size");
  config.layers = reader.whole("num_hidden_layers");
  config.heads = reader.whole("num_attention_heads");
  config.kv_heads = reader.whole_or("num_key_value_heads", config.heads);
  const std::int64_t share = config.heads > 0 ? config.width / config.heads : 0;
  config.head_width =
      reader.whole_or("head_dim", family.file_defaults.head_width > 0 ? family.file_defaults.head_width : share);
  config.context = reader.whole_or("max_position_embeddings", 2048);
  config.norm_epsilon = reader.number_or("rms_norm_eps", 1e-6);
  config.tie_embeddings = reader.flag_or("tie_word_embeddings", family.file_defaults.tie_embeddings);
  config.begin_token = reader.token_or_none("bos_token_id");
  config.end_token = reader.token_or_none("eos_token_id");
}

// A sequence classifier has a head of values in place of that of tokens; published files count its labels in
// id2label, and mean two where they say nothing.
void read_heads(ConfigReader& reader, ModelConfig& config) {
  if (!reader.has("architectures")) return;
  const nlohmann::json& names = reader.object()["architectures"];
  if (!names.is_array() || names.empty() || !names[0].is_string()) return;
  if (!names[0].get<std::string>().ends_with(kClassifier)) return;
  config.token_head = false;
  config.value_head = true;
  std::int64_t labels = reader.whole_or("num_labels", 2);
  if (reader.has("id2label")) {
    const nlohmann::json& names_of_labels = reader.object()["id2label"];
    labels = names_of_labels.is_object() ? static_cast<std::int64_t>(names_of_labels.size()) : 0;
  }
  if (labels != 1) {
    reader.fault(fmt::format("'num_labels' is {} (the entries of id2label; 2 where there are none)", labels),
                 "1: a classifier is read as one value a token", "a critic, or a reward model with one label");
  }
}

const char* activation_name(BlockShape::Activation activation) {
  return activation == BlockShape::Activation::silu ? "silu" : "gelu_pytorch_tanh";
}

void read_activation(ConfigReader& reader, const Family& family, ModelConfig& config) {
  const std::string key(family.file_defaults.activation_key);
  const std::string name = reader.text_or(key, activation_name(config.block.activation));
  for (const auto activation : {BlockShape::Activation::silu, BlockShape::Activation::gelu_tanh}) {
    if (name != activation_name(activation)) continue;
    config.block.activation = activation;
    return;
  }
  reader.fault(fmt::format("'{}' is '{}'", key, name), "silu or gelu_pytorch_tanh", "");
}

// Faults of the numbers that a family or a scaling adds.
void check_options(const ModelConfig& c, const std::function<void(std::string, std::string)>& fault) {
  const RotaryScaling& s = c.rotary_scaling;
  if (s.kind == RotaryScaling::Kind::llama3 &&
      !(s.factor >= 1 && s.low_frequency_factor > 0 && s.high_frequency_factor > s.low_frequency_factor &&
        s.original_context > 0)) {
    fault(fmt::format("rotary scaling llama3 with factor {}, low {}, high {}, original context {}", s.factor,
                      s.low_frequency_factor, s.high_frequency_factor, s.original_context),
          "factor >= 1, 0 < low < high, context > 0");
  }
  if (s.kind == RotaryScaling::Kind::yarn &&
      !(s.factor >= 1 && s.beta_slow > 0 && s.beta_fast > s.beta_slow && s.original_context > 0 &&
        s.attention_factor >= 0 && s.mscale >= 0 && s.mscale_all_dim >= 0)) {
    fault(fmt::format("rotary scaling yarn with factor {}, beta_fast {}, beta_slow {}, original context {}, "
                      "attention_factor {}, mscale {}, mscale_all_dim {}",
                      s.factor, s.beta_fast, s.beta_slow, s.original_context, s.attention_factor, s.mscale,
                      s.mscale_all_dim),
          "factor >= 1, 0 < beta_slow < beta_fast, context > 0, the others not negative");
  }
  if (!(c.block.query_scalar >= 0 && c.block.attention_cap >= 0 && c.logit_cap >= 0 && c.embedding_scale > 0)) {
    fault(fmt::format("query scalar {}, soft caps {} and {}, embedding scale {}", c.block.query_scalar,
                      c.block.attention_cap, c.logit_cap, c.embedding_scale),
          "not negative, a scale above 0");
  }
  if (!c.windows.empty() && static_cast<std::int64_t>(c.windows.size()) != c.layers) {
    fault(fmt::format("{} windows of {} layers", c.windows.size(), c.layers), "one a layer");
  }
  for (const std::int64_t window : c.windows) {
    if (window < 0) fault(fmt::format("a sliding window of {} tokens", window), "at least 1, or 0 for none");
    if (window < 0) break;
  }
}

}  // namespace

ModelConfig read_model_config(const nlohmann::json& json, const std::string& where) {
  ConfigReader reader(json, where);
  reader.finish();
  ModelConfig config;
  config.family = reader.text_or("model_type", "");
  if (!reader.has("model_type")) {
    reader.fault("'model_type' is missing", "the key of a published config.json", "is this a model's folder?");
  }
  reader.finish();
  const Family& family = find_family(config.family, where);
  read_shape(reader, family, config);
  reader.finish();
  family.complete(config);
  read_heads(reader, config);
  read_rotary(reader, config);
  read_activation(reader, family, config);
  if (reader.has("quantization_config")) {
    reader.fault("the weights are quantised ('quantization_config')", "weights in f32, bf16 or f16",
                 "use the plain model");
  }
  family.read(reader, config);
  reader.take_faults(model_config_faults(config, where));
  reader.finish();
  return config;
}

std::vector<Fault> model_config_faults(const ModelConfig& c, const std::string& where) {
  std::vector<Fault> faults;
  const auto fault = [&](std::string found, std::string expected) {
    faults.push_back({where, std::move(found), std::move(expected), ""});
  };
  struct Extent {
    const char* name;
    std::int64_t value, most;
  };
  const std::array<Extent, 8> extents{{{"vocabulary", c.vocabulary, kMaxVocabulary},
                                       {"width", c.width, kMaxWidth},
                                       {"layers", c.layers, kMaxLayers},
                                       {"heads", c.heads, 4096},
                                       {"kv_heads", c.kv_heads, 4096},
                                       {"head_width", c.head_width, 1024},
                                       {"ffn_width", c.ffn_width, kMaxWidth},
                                       {"context", c.context, kMaxContext}}};
  for (const Extent& e : extents) {
    if (e.value < 1 || e.value > e.most)
      fault(fmt::format("{} is {}", e.name, e.value), fmt::format("1 to {}", e.most));
  }
  if (!faults.empty()) return faults;
  if (c.heads % c.kv_heads != 0) {
    fault(fmt::format("{} heads are not a multiple of {} key heads", c.heads, c.kv_heads),
          "every key head serves as many heads");
  }
  if (c.head_width % 2 != 0)
    fault(fmt::format("head width is {}", c.head_width), "an even number, for the rotary pairs");
  if (!(c.norm_epsilon > 0 && c.norm_epsilon < 1))
    fault(fmt::format("norm epsilon is {}", c.norm_epsilon), "between 0 and 1");
  if (!(c.rotary_theta > 1 && c.rotary_theta < 1e12))
    fault(fmt::format("rotary theta is {}", c.rotary_theta), "between 1 and 1e12");
  check_options(c, fault);
  if (!c.token_head && !c.value_head) fault("a network without a head", "logits of tokens, or values");
  for (const auto& [name, token] : {std::pair("begin", c.begin_token), std::pair("end", c.end_token)}) {
    if (token >= c.vocabulary)
      fault(fmt::format("{} token is {}", name, token), fmt::format("below the vocabulary, {}", c.vocabulary));
  }
  return faults;
}

namespace {

// The name of a family's class with this head: LlamaForCausalLM, LlamaForSequenceClassification.
std::string architecture_of(const Family& family, const ModelConfig& config) {
  std::string name(family.architecture);
  if (config.token_head) return name;
  MAXPLUS_REQUIRE(name.ends_with(kLanguageModel), "a family is published as a language model");
  return name.replace(name.size() - kLanguageModel.size(), kLanguageModel.size(), kClassifier);
}

nlohmann::ordered_json written_scaling(const RotaryScaling& s) {
  nlohmann::ordered_json json;
  json["rope_type"] = s.kind == RotaryScaling::Kind::llama3 ? "llama3" : "yarn";
  json["factor"] = s.factor;
  if (s.kind == RotaryScaling::Kind::llama3) {
    json["low_freq_factor"] = s.low_frequency_factor;
    json["high_freq_factor"] = s.high_frequency_factor;
  }
  json["original_max_position_embeddings"] = s.original_context;
  if (s.kind == RotaryScaling::Kind::llama3) return json;
  json["beta_fast"] = s.beta_fast;
  json["beta_slow"] = s.beta_slow;
  if (s.ramp == RotaryScaling::Ramp::exact) json["truncate"] = false;
  for (const auto& [key, value] : {std::pair("attention_factor", s.attention_factor), std::pair("mscale", s.mscale),
                                   std::pair("mscale_all_dim", s.mscale_all_dim)}) {
    if (value > 0) json[key] = value;
  }
  return json;
}

}  // namespace

nlohmann::ordered_json write_model_config(const ModelConfig& config) {
  const Family& family = find_family(config.family, "model");
  nlohmann::ordered_json json;
  json["architectures"] = nlohmann::ordered_json::array({architecture_of(family, config)});
  json["model_type"] = family.name;
  json["vocab_size"] = config.vocabulary;
  json["hidden_size"] = config.width;
  json["intermediate_size"] = config.ffn_width;
  json["num_hidden_layers"] = config.layers;
  json["num_attention_heads"] = config.heads;
  json["num_key_value_heads"] = config.kv_heads;
  json["head_dim"] = config.head_width;
  json["hidden_act"] = activation_name(config.block.activation);
  json["max_position_embeddings"] = config.context;
  json["rms_norm_eps"] = config.norm_epsilon;
  json["tie_word_embeddings"] = config.tie_embeddings;
  json["rope_theta"] = config.rotary_theta;
  if (config.rotary_scaling.kind != RotaryScaling::Kind::none)
    json["rope_scaling"] = written_scaling(config.rotary_scaling);
  json["bos_token_id"] = config.begin_token < 0 ? nlohmann::ordered_json() : nlohmann::ordered_json(config.begin_token);
  json["eos_token_id"] = config.end_token < 0 ? nlohmann::ordered_json() : nlohmann::ordered_json(config.end_token);
  json["torch_dtype"] = "float32";
  if (!config.token_head) {
    json["id2label"] = {{"0", "LABEL_0"}};
    json["label2id"] = {{"LABEL_0", 0}};
  }
  family.write(json, config);
  return json;
}

std::int64_t parameter_count(const ModelConfig& c) {
  std::int64_t count = 0;
  for (const WeightSpec& spec : find_family(c.family, "model").weights(c)) {
    std::int64_t elements = 1;
    for (std::int64_t extent : spec.extents) elements *= extent;
    count += elements;
  }
  return count;
}

std::int64_t body_matrix_count(const ModelConfig& c) {
  return c.layers * c.width * (c.qkv_columns() + c.query_columns() + 3 * c.ffn_width);
}

std::int64_t head_matrix_count(const ModelConfig& c) {
  return (c.token_head ? c.vocabulary * c.width : 0) + (c.value_head ? c.width : 0);
}

}  // namespace maxplus
