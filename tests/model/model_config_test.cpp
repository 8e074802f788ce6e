// config.json in both published forms, what is refused, and the counts of a shape.
#include "model/model_config.hpp"

#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "model/flops.hpp"
#include "model/hf_folder.hpp"

namespace maxplus {
namespace {

nlohmann::json golden_json(const std::string& model, const std::string& file) {
  std::ifstream in(std::string(MAXPLUS_TEST_DATA) + "/models/" + model + "/" + file);
  return nlohmann::json::parse(in);
}

void expect_equal(const ModelConfig& a, const ModelConfig& b) {
  EXPECT_EQ(write_model_config(a).dump(), write_model_config(b).dump());
}

std::vector<Fault> faults_of(const nlohmann::json& json) {
  try {
    (void)read_model_config(json, "config.json");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::data);
    return error.faults();
  }
  return {};
}

TEST(ModelConfig, ReadsBothPublishedFormsAlike) {
  for (const char* model : {"llama", "llama_tied_ropescaled", "llama_even", "qwen2", "qwen3", "mistral", "gemma2"}) {
    const ModelConfig old_form = read_model_config(golden_json(model, "config.json"), model);
    expect_equal(old_form, read_model_config(golden_json(model, "config_v5.json"), model));
    expect_equal(old_form, read_model_config(write_model_config(old_form), model));
  }
  const ModelConfig llama = read_model_config(golden_json("llama", "config.json"), "llama");
  EXPECT_EQ(llama.head_width, 8);  // not in the file: width over heads
  EXPECT_EQ(llama.kv_heads, 2);
  EXPECT_EQ(llama.end_token, 2);
  EXPECT_FALSE(llama.tie_embeddings);
  const ModelConfig scaled = read_model_config(golden_json("llama_tied_ropescaled", "config_v5.json"), "scaled");
  EXPECT_EQ(scaled.rotary_scaling.kind, RotaryScaling::Kind::llama3);
  EXPECT_EQ(scaled.rotary_scaling.original_context, 32);
  EXPECT_EQ(scaled.rotary_theta, 500.0);
  EXPECT_TRUE(scaled.tie_embeddings);
}

TEST(ModelConfig, RefusesAnotherFamilyByName) {
  nlohmann::json json = golden_json("llama", "config.json");
  json["model_type"] = "gpt2";
  const auto faults = faults_of(json);
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_NE(faults[0].found.find("gpt2"), std::string::npos);
  EXPECT_NE(faults[0].expected.find("llama"), std::string::npos);
}

TEST(ModelConfig, RefusesWhatTheNetworkDoesNotDo) {
  const auto changed = [](const char* key, nlohmann::json value) {
    nlohmann::json json = golden_json("llama", "config.json");
    json[key] = std::move(value);
    return faults_of(json).size();
  };
  EXPECT_EQ(changed("hidden_act", "silu"), 0u);
  EXPECT_EQ(changed("hidden_act", "gelu"), 1u);
  EXPECT_EQ(changed("attention_bias", true), 1u);
  EXPECT_EQ(changed("rope_scaling", {{"type", "longrope"}, {"factor", 4.0}}), 1u);
  EXPECT_EQ(changed("rope_scaling", {{"type", "yarn"}}), 1u);
  EXPECT_EQ(changed("rope_scaling", {{"type", "yarn"}, {"factor", 4.0}}), 0u);
  EXPECT_EQ(changed("rope_scaling", {{"type", "yarn"}, {"factor", 0.5}}), 1u);
  EXPECT_EQ(changed("rope_scaling", {{"type", "yarn"}, {"factor", 4.0}, {"beta_fast", 1}, {"beta_slow", 32}}), 1u);
  EXPECT_EQ(changed("rope_parameters", {{"full_attention", {{"rope_theta", 1e4}}}}), 1u);
  EXPECT_EQ(changed("rope_parameters", {{"rope_theta", 1e4}, {"partial_rotary_factor", 0.5}}), 1u);
  EXPECT_EQ(changed("rope_scaling", {{"rope_type", "llama3"}, {"factor", 8.0}}), 3u);
  EXPECT_EQ(changed("quantization_config", {{"bits", 4}}), 1u);
  EXPECT_EQ(changed("num_key_value_heads", 4), 1u);
  EXPECT_EQ(changed("head_dim", 7), 1u);
  EXPECT_EQ(changed("rms_norm_eps", 0.0), 1u);
  EXPECT_EQ(changed("vocab_size", std::int64_t{1} << 62), 1u);
  EXPECT_EQ(changed("eos_token_id", {2, 3}), 0u);
  EXPECT_EQ(changed("eos_token_id", 131), 1u);
  EXPECT_EQ(changed("head_dim", nullptr), 0u);
}

TEST(ModelConfig, TellsAllFaultsAtOnce) {
  nlohmann::json json = golden_json("llama", "config.json");
  json.erase("vocab_size");
  json["hidden_size"] = "48";
  json["num_hidden_layers"] = 3.5;
  EXPECT_EQ(faults_of(json).size(), 3u);
  json["hidden_size"] = nlohmann::json::parse(std::string(100000, '[') + std::string(100000, ']'));
  EXPECT_EQ(faults_of(json).size(), 3u);
  EXPECT_EQ(faults_of(nlohmann::json::array()).size(), 1u);
  EXPECT_EQ(faults_of(nlohmann::json::object()).size(), 1u);
}

TEST(ModelConfig, CountsParametersAndArithmeticOfASmallPublishedShape) {
  ModelConfig c;  // SmolLM2-135M
  c.vocabulary = 49152, c.width = 576, c.layers = 30, c.heads = 9, c.kv_heads = 3, c.head_width = 64,
  c.ffn_width = 1536;
  c.context = 8192, c.tie_embeddings = true;
  EXPECT_TRUE(model_config_faults(c, "").empty());
  EXPECT_EQ(parameter_count(c), 134515008);
  EXPECT_EQ(body_matrix_count(c), 30 * 3538944);
  EXPECT_EQ(head_matrix_count(c), 28311552);
  EXPECT_EQ(forward_flops(c, 1, 0, 0), 2.0 * 30 * 3538944);
  EXPECT_EQ(forward_flops(c, 0, 1, 0), 69120.0);
  EXPECT_EQ(forward_flops(c, 0, 0, 1), 2.0 * 28311552);
}

TEST(ModelConfig, TellsAMissingFolderFromABrokenFile) {
  try {
    (void)read_hf_config(std::string(MAXPLUS_TEST_DATA) + "/models/no_such_model");
    FAIL() << "was read";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::no_input);
  }
}

}  // namespace
}  // namespace maxplus
