// The golden models of the other families, stored as llama.cpp's converter stores them, are the same models.
#include "model/gguf_model.hpp"

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "io/gguf_writer.hpp"
#include "io/temporary_folder.hpp"
#include "model/rotary_table.hpp"
#include "model/test_model.hpp"

namespace maxplus {
namespace {

// 1 is added to a norm before it is stored in f32, and taken off again.
constexpr float kNormTolerance = 1.2e-7f;

struct Owned {
  explicit Owned(const ModelConfig& config)
      : arena("weights", static_cast<std::size_t>(parameter_count(config)) * sizeof(float) + 256, Space::host),
        set(config, arena) {}
  Arena arena;
  WeightSet set;
};

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

// The name that the converter gives, by hand and not by the table under test.
std::string stored_name(std::string name, const std::string& family) {
  if (name == "model.embed_tokens.weight") return "token_embd.weight";
  if (name == "model.norm.weight") return "output_norm.weight";
  if (name == "lm_head.weight") return "output.weight";
  name = replaced(name, "model.layers.", "blk.");
  name = replaced(name, "input_layernorm", "attn_norm");
  name = replaced(name, "pre_feedforward_layernorm", "ffn_norm");
  name = replaced(name, "post_feedforward_layernorm", "post_ffw_norm");
  name = replaced(name, "post_attention_layernorm", family == "gemma2" ? "post_attention_norm" : "ffn_norm");
  for (const char* part : {"q", "k", "v"})
    name = replaced(name, std::string("self_attn.") + part + "_proj", std::string("attn_") + part);
  for (const char* part : {"q", "k"})
    name = replaced(name, std::string("self_attn.") + part + "_norm", std::string("attn_") + part + "_norm");
  name = replaced(name, "self_attn.o_proj", "attn_output");
  for (const char* part : {"gate", "up", "down"})
    name = replaced(name, std::string("mlp.") + part + "_proj", std::string("ffn_") + part);
  return name;
}

// Rows as llama.cpp turns them: of each head (2, D/2, C) becomes (D/2, 2, C).
std::vector<float> interleaved(std::span<const float> values, std::int64_t heads, std::int64_t rows) {
  const auto columns = static_cast<std::int64_t>(values.size()) / rows, half = rows / heads / 2;
  std::vector<float> out;
  for (std::int64_t h = 0; h < heads; ++h) {
    for (std::int64_t i = 0; i < half; ++i) {
      for (std::int64_t p = 0; p < 2; ++p) {
        const auto row = values.subspan(static_cast<std::size_t>(((h * 2 + p) * half + i) * columns),
                                        static_cast<std::size_t>(columns));
        out.insert(out.end(), row.begin(), row.end());
      }
    }
  }
  return out;
}

GgufWriter stored_as_gguf(const ModelConfig& c, const WeightSet& weights) {
  // Mistral is a llama to the converter, but for its window.
  const std::string family = c.family, prefix = family == "mistral" ? "llama" : family;
  const auto u32 = [](std::int64_t value) { return static_cast<std::uint32_t>(value); };
  GgufWriter out;
  out.text("general.architecture", prefix).whole(prefix + ".block_count", u32(c.layers));
  out.whole(prefix + ".context_length", u32(c.context)).whole(prefix + ".embedding_length", u32(c.width));
  out.whole(prefix + ".feed_forward_length", u32(c.ffn_width)).whole(prefix + ".attention.head_count", u32(c.heads));
  out.whole(prefix + ".attention.head_count_kv", u32(c.kv_heads))
      .whole(prefix + ".attention.key_length", u32(c.head_width));
  out.whole(prefix + ".attention.value_length", u32(c.head_width));
  out.number(prefix + ".attention.layer_norm_rms_epsilon", static_cast<float>(c.norm_epsilon));
  out.number(prefix + ".rope.freq_base", static_cast<float>(c.rotary_theta));
  for (const std::int64_t window : c.windows) {
    if (window == 0) continue;
    out.whole(prefix + ".attention.sliding_window", u32(window));
    break;
  }
  if (c.block.attention_cap > 0)
    out.number(prefix + ".attn_logit_softcapping", static_cast<float>(c.block.attention_cap));
  if (c.logit_cap > 0) out.number(prefix + ".final_logit_softcapping", static_cast<float>(c.logit_cap));
  for (const auto& [key, token] : {std::pair("bos", c.begin_token), std::pair("eos", c.end_token)}) {
    if (token >= 0) out.whole(std::string("tokenizer.ggml.") + key + "_token_id", u32(token));
  }
  for (const Parameter& parameter : weights.parameters()) {
    const auto view = parameter.weight.span<float>();
    std::vector<float> values(view.begin(), view.end());
    const std::string& name = parameter.name;
    if (prefix == "llama" && name.find("q_proj") != std::string::npos)
      values = interleaved(view, c.heads, parameter.global_extents[0]);
    if (prefix == "llama" && name.find("k_proj") != std::string::npos)
      values = interleaved(view, c.kv_heads, parameter.global_extents[0]);
    if (family == "gemma2" && name.find("norm") != std::string::npos) {
      for (float& value : values) value += 1.0f;
    }
    out.tensor(stored_name(name, family), {parameter.global_extents.rbegin(), parameter.global_extents.rend()}, values);
  }
  return out;
}

TEST(GgufFamilies, AreTheModelsOfTheirFolders) {
  const TemporaryFolder folder;
  for (const char* name : {"llama", "qwen2", "qwen3", "mistral", "gemma2"}) {
    ModelConfig published = read_hf_config(golden_model(name));
    Owned original(published);
    load_hf_weights(golden_model(name), original.set);
    const auto path = std::filesystem::path(folder.path()) / (std::string(name) + ".gguf");
    stored_as_gguf(published, original.set).write(path);

    const auto file = std::make_shared<const GgufFile>(path);
    const ModelConfig config = read_gguf_config(*file);
    if (published.family == "gemma2") published.block.query_scalar = config.block.query_scalar;  // not stored
    EXPECT_EQ(write_model_config(config), write_model_config(published)) << name;
    Owned read(config);
    load_weights(open_gguf_weights(file, config), read.set);
    for (std::size_t p = 0; p < read.set.parameters().size(); ++p) {
      const Parameter& parameter = read.set.parameters()[p];
      const auto ours = parameter.weight.span<float>(),
                 theirs = original.set.find(parameter.name)->weight.span<float>();
      const bool shifted = published.family == "gemma2" && parameter.name.find("norm") != std::string::npos;
      for (std::size_t i = 0; i < ours.size(); ++i)
        ASSERT_NEAR(ours[i], theirs[i], shifted ? kNormTolerance : 0.0f) << name << " " << parameter.name;
    }
  }
}

// Reads the stored config again after more keys.
ModelConfig config_of(GgufWriter& written, const TemporaryFolder& folder) {
  const auto path = std::filesystem::path(folder.path()) / "model.gguf";
  written.write(path);
  return read_gguf_config(GgufFile(path));
}

TEST(GgufFamilies, TheFactorOfAYarnFileComesOnTopOfYarnsOwn) {
  const TemporaryFolder folder;
  const ModelConfig published = read_hf_config(golden_model("llama"));
  Owned original(published);
  GgufWriter written = stored_as_gguf(published, original.set);
  written.text("llama.rope.scaling.type", "yarn").number("llama.rope.scaling.factor", 4.0f);
  written.whole("llama.rope.scaling.original_context_length", 32);
  EXPECT_DOUBLE_EQ(rotary_magnitude(config_of(written, folder).rotary_scaling), 0.1 * std::log(4.0) + 1);
  written.number("llama.rope.scaling.attn_factor", 1.5f);
  EXPECT_DOUBLE_EQ(rotary_magnitude(config_of(written, folder).rotary_scaling), 1.5 * (0.1 * std::log(4.0) + 1));
}

TEST(GgufFamilies, QwenFilesHaveNoWindow) {
  const TemporaryFolder folder;
  const ModelConfig published = read_hf_config(golden_model("qwen2"));
  Owned original(published);
  GgufWriter written = stored_as_gguf(published, original.set);
  written.whole("qwen2.attention.sliding_window", 8);
  EXPECT_TRUE(config_of(written, folder).windows.empty());
}

}  // namespace
}  // namespace maxplus
