// What the families say about themselves: parts of their layers, windows, defaults of files, names of weights.
#include "model/families/family.hpp"

#include <fstream>
#include <map>
#include <set>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "model/test_model.hpp"

namespace maxplus {
namespace {

nlohmann::json golden_json(const std::string& model) {
  std::ifstream in(golden_model(model) / "config.json");
  return nlohmann::json::parse(in);
}

ModelConfig changed(const std::string& model, const nlohmann::json& changes) {
  nlohmann::json json = golden_json(model);
  for (const auto& [key, value] : changes.items()) {
    if (value == "absent") {
      json.erase(key);
    } else {
      json[key] = value;
    }
  }
  return read_model_config(json, model);
}

using Windows = std::vector<std::int64_t>;

TEST(Families, SayWhatTheirLayersAreMadeOf) {
  const auto read = [](const char* model) { return changed(model, nlohmann::json::object()); };
  EXPECT_TRUE(read("qwen2").block.qkv_bias);
  EXPECT_TRUE(read("qwen2").windows.empty());
  EXPECT_TRUE(read("qwen3").block.query_key_norm);
  EXPECT_EQ(read("qwen3").head_width, 10);
  EXPECT_EQ(read("mistral").windows, (Windows{16, 16, 16}));
  const ModelConfig gemma = read("gemma2");
  EXPECT_EQ(gemma.windows, (Windows{12, 0, 12}));
  EXPECT_EQ(gemma.block_of(1).window, 0);
  EXPECT_EQ(gemma.block_of(2).window, 12);
  EXPECT_EQ(gemma.block.query_scalar, 24);
  EXPECT_EQ(gemma.block.attention_cap, 8);
  EXPECT_EQ(gemma.logit_cap, 10);
  EXPECT_EQ(gemma.block.activation, BlockShape::Activation::gelu_tanh);
  EXPECT_EQ(gemma.block.norm_scale, BlockShape::NormScale::one_plus_weight);
  EXPECT_TRUE(gemma.block.output_norms);
  EXPECT_DOUBLE_EQ(gemma.embedding_scale, std::sqrt(48.0));
  const ModelConfig llama = read("llama");
  EXPECT_FALSE(llama.block.qkv_bias || llama.block.query_key_norm || llama.block.output_norms);
  EXPECT_EQ(llama.embedding_scale, 1);
}

TEST(Families, TellAKeyThatIsNullFromOneThatIsAbsent) {
  EXPECT_TRUE(changed("mistral", {{"sliding_window", nullptr}}).windows.empty());
  EXPECT_EQ(changed("mistral", {{"sliding_window", "absent"}}).windows, (Windows{4096, 4096, 4096}));
  EXPECT_EQ(changed("gemma2", {{"attn_logit_softcapping", nullptr}}).block.attention_cap, 0);
  EXPECT_EQ(changed("gemma2", {{"attn_logit_softcapping", "absent"}}).block.attention_cap, 50);
  EXPECT_EQ(changed("gemma2", {{"final_logit_softcapping", nullptr}}).logit_cap, 0);
  EXPECT_EQ(changed("gemma2", {{"final_logit_softcapping", "absent"}}).logit_cap, 30);
  EXPECT_TRUE(changed("gemma2", {{"tie_word_embeddings", "absent"}}).tie_embeddings);
  EXPECT_FALSE(changed("qwen2", {{"tie_word_embeddings", "absent"}}).tie_embeddings);
  EXPECT_EQ(changed("qwen3", {{"head_dim", "absent"}}).head_width, 128);
  EXPECT_EQ(changed("gemma2", {{"hidden_activation", "silu"}}).block.activation, BlockShape::Activation::silu);
}

TEST(Families, GiveWindowsToTheLayersThatAFileNames) {
  EXPECT_TRUE(changed("qwen2", {{"sliding_window", 32}}).windows.empty()) << "use_sliding_window is false";
  EXPECT_EQ(changed("qwen2", {{"use_sliding_window", true}, {"sliding_window", 32}, {"max_window_layers", 1}}).windows,
            (Windows{0, 32, 32}));
  const char *full = "full_attention", *window = "sliding_attention";
  const nlohmann::json types = {
      {"use_sliding_window", true}, {"sliding_window", 32}, {"layer_types", {window, full, full}}};
  EXPECT_EQ(changed("qwen3", types).windows, (Windows{32, 0, 0}));
  EXPECT_EQ(changed("gemma2", {{"layer_types", {full, window, full}}}).windows, (Windows{0, 12, 0}));
  EXPECT_THROW(changed("gemma2", {{"layer_types", {full, window}}}), Error);
  EXPECT_THROW(changed("gemma2", {{"layer_types", {full, window, "chunked_attention"}}}), Error);
  EXPECT_THROW(changed("mistral", {{"sliding_window", -3}}), Error);
}

TEST(Families, AreReadFromWhatTheyWriteWhateverTheirParts) {
  const std::map<std::string, nlohmann::json> cases{
      {"qwen2", {{"use_sliding_window", true}, {"sliding_window", 32}, {"max_window_layers", 2}}},
      {"qwen3", {{"rope_scaling", {{"rope_type", "yarn"}, {"factor", 4.0}, {"original_max_position_embeddings", 64}}}}},
      {"mistral", {{"sliding_window", nullptr}}},
      {"gemma2", {{"final_logit_softcapping", nullptr}, {"query_pre_attn_scalar", 20.5}, {"sliding_window", 5}}},
      {"llama",
       {{"rope_scaling",
         {{"rope_type", "yarn"}, {"factor", 2.0}, {"mscale", 0.7}, {"mscale_all_dim", 1.0}, {"truncate", false}}}}}};
  for (const auto& [model, changes] : cases) {
    const ModelConfig config = changed(model, changes);
    const ModelConfig again = read_model_config(write_model_config(config), model);
    EXPECT_EQ(write_model_config(config).dump(), write_model_config(again).dump());
    EXPECT_EQ(config.windows, again.windows) << model;
    EXPECT_EQ(config.rotary_scaling.mscale, again.rotary_scaling.mscale);
    EXPECT_EQ(config.rotary_scaling.ramp, again.rotary_scaling.ramp);
    EXPECT_EQ(config.block.query_scalar, again.block.query_scalar);
    EXPECT_EQ(config.logit_cap, again.logit_cap);
  }
}

TEST(Families, NameTheWeightsOfTheirPublishedFiles) {
  for (const std::string& family : family_names()) {
    const SafetensorsFile file(golden_model(family) / "model.safetensors");
    std::set<std::string> published, ours;
    for (const SafetensorsEntry& entry : file.entries()) published.insert(entry.name);
    const ModelConfig config = read_hf_config(golden_model(family));
    std::int64_t elements = 0;
    for (const WeightSpec& spec : find_family(family, "test").weights(config)) {
      ours.insert(spec.name);
      elements += file.find(spec.name) == nullptr ? 0 : file.find(spec.name)->elements();
    }
    EXPECT_EQ(published, ours) << family;
    EXPECT_EQ(parameter_count(config), elements) << family;
  }
}

TEST(Families, StartWithNormsOfOneAndBiasesOfZeroAndDecayNeither) {
  for (const std::string& family : family_names()) {
    const ModelConfig config = odd_config_of(family);
    Arena arena("weights", static_cast<std::size_t>(parameter_count(config)) * 4 + 64, Space::host);
    WeightSet weights(config, arena);
    weights.initialise(5);
    const std::vector<WeightSpec> specs = find_family(family, "test").weights(config);
    for (std::size_t i = 0; i < specs.size(); ++i) {
      const Parameter& parameter = weights.parameters()[i];
      const bool vector = specs[i].extents.size() == 1, bias = specs[i].name.find("bias") != std::string::npos;
      EXPECT_EQ(parameter.decayed, !vector) << parameter.name;
      if (!vector) continue;
      const float expected = bias || family == "gemma2" ? 0.0f : 1.0f;
      for (float value : parameter.weight.span<float>()) ASSERT_EQ(value, expected) << parameter.name;
    }
  }
}

}  // namespace
}  // namespace maxplus
