// Metadata of a GGUF file as a config.json.
//
// Numbers are stored in f32: they are written as the shortest decimal that gives the same f32, which is what the
// model's authors wrote (1e-5, not 9.99999975e-6).
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/exact_math.hpp"
#include "io/gguf_dequantize.hpp"
#include "model/gguf_model.hpp"

namespace maxplus {

namespace {

using Json = nlohmann::ordered_json;

[[noreturn]] void refuse_model(const GgufFile& file, const std::string& found, const std::string& expected) {
  throw Error(ExitCode::data, Fault{file.where(), found, expected, "use a model of a supported family"});
}

// Keys of one architecture: "llama.block_count" and so on.
class GgufKeys {
 public:
  explicit GgufKeys(const GgufFile& file) : file_(file) {
    const auto name = file.text("general.architecture");
    if (!name) refuse_model(file, "key 'general.architecture' is missing", "a model's architecture");
    architecture_ = *name;
  }
  const std::string& architecture() const { return architecture_; }
  std::string full(const std::string& key) const { return architecture_ + "." + key; }

  std::optional<std::int64_t> whole(const std::string& key) const { return file_.whole(full(key)); }
  std::int64_t required(const std::string& key) const {
    const auto value = whole(key);
    if (!value) refuse_model(file_, fmt::format("key '{}' is missing", full(key)), "a whole number");
    return *value;
  }
  std::optional<double> number(const std::string& key) const {
    const auto value = file_.number(full(key));
    if (!value) return std::nullopt;
    return std::strtod(fmt::format("{}", static_cast<float>(*value)).c_str(), nullptr);
  }
  std::optional<std::string> text(const std::string& key) const {
    const auto value = file_.text(full(key));
    return value ? std::optional<std::string>(*value) : std::nullopt;
  }
  // A number, or a list of equal numbers (a value a layer).
  std::optional<std::int64_t> uniform(const std::string& key) const {
    const auto value = file_.find(full(key));
    if (!value || !value->is_list()) return whole(key);
    const std::optional<std::int64_t> first = value->count() > 0 ? value->whole(0) : std::nullopt;
    for (std::uint64_t i = 0; i < value->count(); ++i) {
      if (!first || value->whole(i) != first)
        refuse_model(file_, fmt::format("key '{}' differs between layers", full(key)), "equal layers");
    }
    return first;
  }

 private:
  const GgufFile& file_;
  std::string architecture_;
};

// What config.json calls the architecture. Mistral's models are stored as llama; only those with a window differ.
std::string model_type(const GgufKeys& keys) {
  if (keys.architecture() == "llama" && keys.whole("attention.sliding_window").value_or(0) > 0) return "mistral";
  return keys.architecture();
}

void add_shape(const GgufFile& file, const GgufKeys& keys, Json& json) {
  const auto embedding = file.find_tensor("token_embd.weight");
  if (!embedding || embedding->rank != 2)
    refuse_model(file, "tensor 'token_embd.weight' is missing or no matrix", "the embedding");
  json["vocab_size"] = embedding->extents[1];
  const std::int64_t width = keys.required("embedding_length");
  const auto heads = keys.uniform("attention.head_count");
  if (!heads || *heads < 1)
    refuse_model(file, fmt::format("key '{}' is missing or not positive", keys.full("attention.head_count")), "heads");
  const std::int64_t head_width = keys.whole("attention.key_length").value_or(width / *heads);
  json["hidden_size"] = width;
  const auto ffn = keys.uniform("feed_forward_length");
  if (!ffn) refuse_model(file, fmt::format("key '{}' is missing", keys.full("feed_forward_length")), "a whole number");
  json["intermediate_size"] = *ffn;
  json["num_hidden_layers"] = keys.required("block_count");
  json["num_attention_heads"] = *heads;
  json["num_key_value_heads"] = keys.uniform("attention.head_count_kv").value_or(*heads);
  json["head_dim"] = head_width;
  for (const char* key : {"attention.value_length", "rope.dimension_count"}) {
    const std::int64_t value = keys.whole(key).value_or(head_width);
    if (value != head_width)
      refuse_model(file, fmt::format("key '{}' is {}", keys.full(key), value),
                   fmt::format("the head width, {}", head_width));
  }
  json["max_position_embeddings"] = keys.whole("context_length").value_or(2048);
  json["rms_norm_eps"] = keys.number("attention.layer_norm_rms_epsilon").value_or(1e-5);
  json["tie_word_embeddings"] = !file.find_tensor("output.weight").has_value();
}

// Llama 3's rule in three branches (by wavelength), recovered from the factors that it gives: those between 1 and the
// largest lie on a line over 1 / wavelength.
Json llama3_scaling(const GgufFile& file, const GgufTensor& tensor, std::int64_t head_width, double theta) {
  if (!readable_as_f32(*tensor.type) || tensor.rank != 1 || tensor.elements() != head_width / 2)
    refuse_model(file, "tensor 'rope_freqs.weight' has another type or extent", "a factor for each rotary frequency");
  std::vector<float> factors(static_cast<std::size_t>(tensor.elements()));
  dequantize(*tensor.type, tensor.data, factors);
  constexpr double kTwoPi = 6.28318530717958647693, kLow = 1, kHigh = 4;
  const auto wavelength = [&](std::size_t i) {
    return kTwoPi * std::pow(theta, 2.0 * static_cast<double>(i) / static_cast<double>(head_width));
  };
  const double factor = *std::max_element(factors.begin(), factors.end());
  const auto between =
      std::find_if(factors.begin(), factors.end(), [&](float f) { return f > 1.001f && f < 0.999 * factor; });
  double context = 8192;
  if (between != factors.end()) {
    const double smooth = (1 / static_cast<double>(*between) - 1 / factor) / (1 - 1 / factor);
    context =
        std::round(wavelength(static_cast<std::size_t>(between - factors.begin())) * (kLow + smooth * (kHigh - kLow)));
  }
  for (std::size_t i = 0; i < factors.size(); ++i) {
    const double smooth = std::clamp((context / wavelength(i) - kLow) / (kHigh - kLow), 0.0, 1.0);
    const double expected = 1 / ((1 - smooth) / factor + smooth);
    if (!(std::abs(static_cast<double>(factors[i]) - expected) <= 1e-4 * expected))
      refuse_model(file, "tensor 'rope_freqs.weight' does not follow Llama 3's rule",
                   "low_freq_factor 1, high_freq_factor 4");
  }
  return {{"rope_type", "llama3"},
          {"factor", factor},
          {"low_freq_factor", kLow},
          {"high_freq_factor", kHigh},
          {"original_max_position_embeddings", static_cast<std::int64_t>(context)}};
}

void add_rotary(const GgufFile& file, const GgufKeys& keys, Json& json) {
  const double theta = keys.number("rope.freq_base").value_or(10000.0);
  json["rope_theta"] = theta;
  if (const auto factors = file.find_tensor("rope_freqs.weight")) {
    json["rope_scaling"] = llama3_scaling(file, *factors, json["head_dim"].get<std::int64_t>(), theta);
    return;
  }
  const std::string type = keys.text("rope.scaling.type").value_or("none");
  if (type == "none") return;
  Json scaling{{"rope_type", type}, {"factor", keys.number("rope.scaling.factor").value_or(1.0)}};
  if (const auto context = keys.whole("rope.scaling.original_context_length"))
    scaling["original_max_position_embeddings"] = *context;
  for (const auto& [name, key] :
       {std::pair("beta_fast", "rope.scaling.yarn_beta_fast"), std::pair("beta_slow", "rope.scaling.yarn_beta_slow")}) {
    if (const auto value = keys.number(key)) scaling[name] = *value;
  }
  // GGUF's factor comes on top of yarn's own, which a config file's replaces.
  if (const auto value = keys.number("rope.scaling.attn_factor"); value && type == "yarn") {
    const double factor = scaling["factor"].get<double>();
    scaling["attention_factor"] = *value * (factor > 1 ? 0.1 * exact_log(factor) + 1 : 1.0);
  }
  json["rope_scaling"] = std::move(scaling);
}

void add_family_keys(const GgufFile& file, const GgufKeys& keys, Json& json) {
  const std::string type = json["model_type"];
  // Files of the Qwen families may carry a window that their networks do not use.
  const bool windows = type == "mistral" || type == "gemma2";
  if (const auto window = keys.whole("attention.sliding_window"); windows && window && *window > 0)
    json["sliding_window"] = *window;
  if (type == "llama" || type == "qwen3") json["attention_bias"] = file.find_tensor("blk.0.attn_q.bias").has_value();
  if (type == "llama") json["mlp_bias"] = file.find_tensor("blk.0.ffn_up.bias").has_value();
  if (type == "gemma2") {
    json["hidden_activation"] = "gelu_pytorch_tanh";
    json["hidden_act"] = "gelu_pytorch_tanh";
    // The scale of the scores is not stored: the head width, but for the one size whose heads are not width / heads.
    constexpr std::int64_t kLayersOfLargest = 46;
    const bool largest = json["num_hidden_layers"].get<std::int64_t>() == kLayersOfLargest;
    json["query_pre_attn_scalar"] =
        largest ? json["hidden_size"].get<std::int64_t>() / json["num_attention_heads"].get<std::int64_t>()
                : json["head_dim"].get<std::int64_t>();
    if (const auto cap = keys.number("attn_logit_softcapping")) json["attn_logit_softcapping"] = *cap;
    if (const auto cap = keys.number("final_logit_softcapping")) json["final_logit_softcapping"] = *cap;
  } else {
    json["hidden_act"] = "silu";
  }
}

}  // namespace

Json gguf_config_json(const GgufFile& file) {
  const GgufKeys keys(file);
  Json json;
  json["model_type"] = model_type(keys);
  add_shape(file, keys, json);
  add_rotary(file, keys, json);
  for (const auto& [name, key] : {std::pair("bos_token_id", "tokenizer.ggml.bos_token_id"),
                                  std::pair("eos_token_id", "tokenizer.ggml.eos_token_id")}) {
    if (const auto token = file.whole(key)) json[name] = *token;
  }
  add_family_keys(file, keys, json);
  json["torch_dtype"] = "float32";
  return json;
}

ModelConfig read_gguf_config(const GgufFile& file) {
  return read_model_config(nlohmann::json(gguf_config_json(file)), file.where());
}

}  // namespace maxplus
