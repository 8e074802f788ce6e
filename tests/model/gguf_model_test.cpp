// A model in a GGUF file gives the golden values, and its metadata the published configuration.
#include "model/gguf_model.hpp"

#include <cmath>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "io/gguf_writer.hpp"
#include "io/temporary_folder.hpp"
#include "model/test_model.hpp"

namespace maxplus {
namespace {

// Of golden/README.md: ten times what another f32 implementation was measured to differ from f64
constexpr float kGgufLogitTolerance = 1e-4f, kGgufLogProbTolerance = 1e-4f;
constexpr double kGgufGradientTolerance = 3e-5;

const std::filesystem::path kGgufFolder = std::filesystem::path(MAXPLUS_TEST_DATA) / "gguf";

std::shared_ptr<const GgufFile> opened(const std::filesystem::path& path) {
  return std::make_shared<const GgufFile>(path);
}

struct TinyLlama {
  explicit TinyLlama(const std::string& name)
      : file(opened(kGgufFolder / name)), config(read_gguf_config(*file)), model(config, {{170, 3, 100, 100, 7}}) {
    load_weights(open_gguf_weights(file, config), model.weights);
    model.network->pack_weights();
  }
  std::shared_ptr<const GgufFile> file;
  ModelConfig config;
  TestModel model;
};

// Logits token by token; then log-probabilities, entropies and, if asked for, gradients of the packed batch.
void expect_golden_logits(TinyLlama& tiny, const SafetensorsFile& reference) {
  Arena arena("cache", static_cast<std::size_t>(7 * KvCache::bytes_per_page(tiny.config)) + 64, Space::host);
  KvCache cache(tiny.config, 7, arena);
  for (int i = 0; i < 3; ++i) {
    const GoldenSequence golden = golden_sequence(reference, i);
    KvCache::Sequence sequence;
    float worst = 0;
    for (std::size_t t = 0; t < golden.tokens.size(); ++t) {
      ASSERT_TRUE(cache.reserve(sequence, 1));
      const Transformer::Extension extension{&sequence, {&golden.tokens[t], 1}};
      const auto logits = tiny.model.network->extend(cache, {&extension, 1}).span<float>();
      for (std::size_t j = 0; j < logits.size(); ++j) {
        const float gap = std::abs(logits[j] - golden.logits[t * logits.size() + j]);
        worst = gap <= worst ? worst : gap;  // a NaN counts as worst
      }
    }
    EXPECT_LE(worst, kGgufLogitTolerance) << "sequence " << i;
    cache.release(sequence);
  }
}

std::vector<float> expect_golden_scores(TinyLlama& tiny, const SafetensorsFile& reference) {
  TokenBatch batch;
  HeadTargets targets;
  std::vector<float> weight, log_prob, entropy;
  for (int i = 0; i < 3; ++i) {
    const GoldenSequence golden = golden_sequence(reference, i);
    for (std::size_t t = 1; t < golden.tokens.size(); ++t) {
      targets.row.push_back(static_cast<std::int32_t>(batch.tokens()) + static_cast<std::int32_t>(t) - 1);
      targets.target.push_back(golden.tokens[t]);
      log_prob.push_back(golden.log_prob[t]);
      entropy.push_back(golden.entropy[t - 1]);
      weight.push_back(golden.weight[t]);
    }
    batch.append(golden.tokens, -1);
  }
  std::vector<float> ours(log_prob.size(), NAN), our_entropy(log_prob.size(), NAN);
  tiny.model.network->forward(batch);
  tiny.model.network->score(targets, 1.0f, ours, our_entropy);
  for (std::size_t n = 0; n < ours.size(); ++n) {
    EXPECT_NEAR(ours[n], log_prob[n], kGgufLogProbTolerance) << n;
    EXPECT_NEAR(our_entropy[n], entropy[n], kGgufLogProbTolerance) << n;
  }
  return weight;
}

TEST(GgufModel, GivesTheGoldenLogitsAndGradientsFromF32) {
  TinyLlama tiny("tiny_llama.f32.gguf");
  const SafetensorsFile reference(kGgufFolder / "reference.safetensors");
  expect_golden_logits(tiny, reference);
  const std::vector<float> d_log_prob = expect_golden_scores(tiny, reference);
  const std::vector<float> zero(d_log_prob.size(), 0.0f);
  tiny.model.network->backward(d_log_prob, zero);
  for (const Parameter& parameter : tiny.model.weights.parameters()) {
    const SafetensorsEntry* entry = reference.find("grad." + parameter.name);
    ASSERT_NE(entry, nullptr) << parameter.name;
    std::vector<float> golden(static_cast<std::size_t>(entry->elements()));
    reference.read_f32(*entry, golden);
    const auto ours = parameter.gradient.span<float>();
    double largest = 0, worst = 0;
    for (std::size_t i = 0; i < golden.size(); ++i) {
      largest = std::max(largest, std::abs(static_cast<double>(golden[i])));
      const double gap = std::abs(static_cast<double>(ours[i]) - golden[i]);
      worst = gap <= worst ? worst : gap;
    }
    EXPECT_LE(worst, kGgufGradientTolerance * largest) << parameter.name;
  }
}

TEST(GgufModel, GivesTheGoldenLogitsFromQ8) {
  TinyLlama tiny("tiny_llama.q8_0.gguf");
  const SafetensorsFile reference(kGgufFolder / "reference_q8_0.safetensors");
  expect_golden_logits(tiny, reference);
  expect_golden_scores(tiny, reference);
}

TEST(GgufModel, HasThePublishedConfiguration) {
  std::ifstream in(kGgufFolder / "tiny_llama_config.json");
  const ModelConfig published = read_model_config(nlohmann::json::parse(in), "config.json");
  for (const char* name : {"tiny_llama.f32.gguf", "tiny_llama.q8_0.gguf"})
    EXPECT_EQ(write_model_config(read_gguf_config(*opened(kGgufFolder / name))), write_model_config(published)) << name;
}

// A llama of one layer with the given rotary factors; heads of width 64.
GgufWriter llama_with_factors(const std::vector<float>& factors) {
  GgufWriter writer;
  writer.text("general.architecture", "llama").whole("llama.block_count", 1).whole("llama.context_length", 512);
  writer.whole("llama.embedding_length", 64)
      .whole("llama.feed_forward_length", 32)
      .whole("llama.attention.head_count", 1);
  writer.number("llama.attention.layer_norm_rms_epsilon", 1e-5f).number("llama.rope.freq_base", 500000.0f);
  writer.tensor("token_embd.weight", {64, 3}, std::vector<float>(192, 0.5f));
  if (!factors.empty()) writer.tensor("rope_freqs.weight", {factors.size()}, factors);
  return writer;
}

// Llama 3's rule as published: three branches by wavelength.
std::vector<float> llama3_factors(double factor, double context) {
  std::vector<float> factors;
  for (int i = 0; i < 32; ++i) {
    const double wavelength = 2 * M_PI * std::pow(500000.0, 2.0 * i / 64), smooth = (context / wavelength - 1) / 3;
    factors.push_back(static_cast<float>(wavelength < context / 4 ? 1
                                         : wavelength > context   ? factor
                                                                  : 1 / ((1 - smooth) / factor + smooth)));
  }
  return factors;
}

TEST(GgufModel, RecoversLlama3ScalingFromItsFactors) {
  const TemporaryFolder folder;
  for (const auto& [factor, context] : {std::pair(8.0, 8192), std::pair(32.0, 8192), std::pair(8.0, 37)}) {
    const auto path = std::filesystem::path(folder.path()) / "scaled.gguf";
    llama_with_factors(llama3_factors(factor, context)).write(path);
    const auto file = opened(path);
    const ModelConfig config = read_gguf_config(*file);
    EXPECT_EQ(config.rotary_scaling.kind, RotaryScaling::Kind::llama3);
    EXPECT_EQ(config.rotary_scaling.factor, factor);
    EXPECT_EQ(config.rotary_scaling.original_context, context);
    EXPECT_TRUE(config.tie_embeddings);
    EXPECT_EQ(open_gguf_weights(file, config)->tensors().size(), 1u);  // the factors are no weights
  }
}

std::string first_fault(const std::filesystem::path& path) {
  try {
    (void)read_gguf_config(*opened(path));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::data);
    return error.faults()[0].found;
  }
  return {};
}

TEST(GgufModel, RefusesByNameWhatItCannotTake) {
  const TemporaryFolder folder;
  const auto path = std::filesystem::path(folder.path()) / "odd.gguf";
  std::vector<float> factors = llama3_factors(8, 8192);
  factors[20] *= 1.01f;
  llama_with_factors(factors).write(path);
  EXPECT_EQ(first_fault(path), "tensor 'rope_freqs.weight' does not follow Llama 3's rule");
  llama_with_factors({}).whole("llama.rope.dimension_count", 32).write(path);
  EXPECT_EQ(first_fault(path), "key 'llama.rope.dimension_count' is 32");
  llama_with_factors({}).wholes("llama.attention.head_count_kv", {1, 2}).write(path);
  EXPECT_EQ(first_fault(path), "key 'llama.attention.head_count_kv' differs between layers");
  GgufWriter().text("general.architecture", "llama").write(path);
  EXPECT_EQ(first_fault(path), "tensor 'token_embd.weight' is missing or no matrix");
  GgufWriter().whole("general.alignment", 32).write(path);
  EXPECT_EQ(first_fault(path), "key 'general.architecture' is missing");
}

TEST(GgufModel, TellsTensorsThatTheFamilyDoesNotHave) {
  const TemporaryFolder folder;
  const auto path = std::filesystem::path(folder.path()) / "extra.gguf";
  llama_with_factors({}).tensor("blk.0.ssm_a.weight", {4}, {1, 2, 3, 4}).write(path);
  const auto file = opened(path);
  const ModelConfig config = read_gguf_config(*file);
  Arena counted("weights");
  WeightSet plan(config, counted);
  Arena arena("weights", counted.peak(), Space::host);
  WeightSet weights(config, arena);
  try {
    load_weights(open_gguf_weights(file, config), weights);
    FAIL() << "was loaded";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::data);
    EXPECT_EQ(error.faults().back().found, "tensor 'blk.0.ssm_a.weight' is not part of a llama");
  }
}

}  // namespace
}  // namespace maxplus
