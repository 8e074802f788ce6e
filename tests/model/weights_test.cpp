// The block of weights: its order, random start, fingerprint, tied gradients, and folders on disk.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include <gtest/gtest.h>
#include <xxhash.h>
#include <nlohmann/json.hpp>

#include "model/test_model.hpp"
#include "model/weight_layout.hpp"

namespace maxplus {
namespace {

struct OwnedWeights {
  explicit OwnedWeights(const ModelConfig& config)
      : arena("weights", static_cast<std::size_t>(parameter_count(config)) * 4 + 64, Space::host), set(config, arena) {}
  Arena arena;
  WeightSet set;
};

std::filesystem::path scratch_folder(const std::string& name) {
  const auto folder = std::filesystem::path(::testing::TempDir()) / "maxplus_weights_test" / name;
  std::filesystem::remove_all(folder);
  return folder;
}

ExitCode load_code(const std::filesystem::path& folder, WeightSet& weights, std::size_t* faults) {
  try {
    load_hf_weights(folder, weights);
  } catch (const Error& error) {
    *faults = error.faults().size();
    return error.code();
  }
  return ExitCode::ok;
}

TEST(WeightSet, StandsInOneBlockInTheOrderOfItsParameters) {
  OwnedWeights owned(odd_config(false));
  const float* next = owned.set.all().as<float>();
  for (const Parameter& parameter : owned.set.parameters()) {
    EXPECT_EQ(parameter.weight.as<float>(), next) << parameter.name;
    EXPECT_EQ(parameter.decayed, parameter.name.find("norm") == std::string::npos) << parameter.name;
    next += parameter.global_size();
  }
  EXPECT_EQ(next, owned.set.all().as<float>() + owned.set.elements());
  EXPECT_EQ(owned.set.parameters().front().name, "model.embed_tokens.weight");
  EXPECT_EQ(owned.set.parameters().back().name, "lm_head.weight");
  const WeightViews views = weight_views(owned.set.config(), owned.set.all());
  EXPECT_EQ(views.layer[1].qkv.data(), owned.set.find("model.layers.1.self_attn.q_proj.weight")->weight.data());
  EXPECT_EQ(views.layer[1].gate_up.data(), owned.set.find("model.layers.1.mlp.gate_proj.weight")->weight.data());
  EXPECT_EQ(views.layer[1].qkv.extent(0), 120);
  EXPECT_EQ(owned.set.find("model.layers.2.mlp.gate_proj.weight"), nullptr);
}

TEST(WeightSet, StartsAsAFunctionOfSeedNameAndElement) {
  OwnedWeights a(odd_config(true)), b(odd_config(true)), c(odd_config(true));
  a.set.initialise(7);
  b.set.initialise(7);
  c.set.initialise(8);
  EXPECT_EQ(a.set.hash(), b.set.hash());
  EXPECT_NE(a.set.hash(), c.set.hash());
  ModelConfig deeper = odd_config(true);
  deeper.layers = 3;
  deeper.vocabulary = 50;
  OwnedWeights d(deeper);
  d.set.initialise(7);
  const auto q = a.set.find("model.layers.1.self_attn.q_proj.weight")->weight.span<float>();
  EXPECT_TRUE(same_bits(q, d.set.find("model.layers.1.self_attn.q_proj.weight")->weight.span<float>()));
  const auto q0 = a.set.find("model.layers.0.self_attn.q_proj.weight")->weight.span<float>();
  EXPECT_FALSE(same_bits(q, q0));
}

TEST(WeightSet, StartsWithTheStatedDeviations) {
  ModelConfig config = odd_config(false);
  config.vocabulary = 1000, config.width = 64, config.ffn_width = 200;
  OwnedWeights owned(config);
  owned.set.initialise(1);
  const auto moments = [&](const std::string& name) {
    double sum = 0, squares = 0;
    const auto values = owned.set.find(name)->weight.span<float>();
    for (float v : values) sum += v, squares += static_cast<double>(v) * v;
    const double n = static_cast<double>(values.size());
    return std::pair(sum / n, std::sqrt(squares / n));
  };
  // of n draws the deviation's own error is 1 / sqrt(2 n): 0.0063 for the smallest matrix; four of them
  constexpr double kShare = 0.026;
  const std::map<std::string, double> expected{{"model.embed_tokens.weight", 0.04},
                                               {"lm_head.weight", 1.0 / 8},
                                               {"model.layers.0.mlp.up_proj.weight", 1.0 / 8},
                                               {"model.layers.0.mlp.down_proj.weight", 1.0 / std::sqrt(200.0) / 2},
                                               {"model.layers.1.self_attn.o_proj.weight", 1.0 / std::sqrt(60.0) / 2}};
  for (const auto& [name, deviation] : expected) {
    const auto [mean, found] = moments(name);
    EXPECT_NEAR(found, deviation, kShare * deviation) << name;
    EXPECT_NEAR(mean, 0, 0.08 * deviation) << name;
  }
  for (float v : owned.set.find("model.norm.weight")->weight.span<float>()) EXPECT_EQ(v, 1.0f);
}

TEST(WeightSet, HashIsThatOfTheTensorsInByteOrderOfNames) {
  OwnedWeights owned(odd_config(true));
  owned.set.initialise(3);
  std::map<std::string, const Parameter*> sorted;
  for (const Parameter& parameter : owned.set.parameters()) sorted[parameter.name] = &parameter;
  std::string bytes;
  for (const auto& [name, parameter] : sorted) {
    bytes.append(static_cast<const char*>(parameter->weight.data()), parameter->weight.bytes());
  }
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, hash);
  std::string text;
  for (unsigned char c : canonical.digest) {
    text += "0123456789abcdef"[c >> 4];
    text += "0123456789abcdef"[c & 15];
  }
  EXPECT_EQ(owned.set.hash(), text);
  owned.set.all().as<float>()[owned.set.elements() - 1] += 1;
  EXPECT_NE(owned.set.hash(), text);
}

TEST(WeightSet, KeepsTheTwoGradientsOfATiedMatrixApartUntilTheyAreFolded) {
  const Stream stream(1, Stream::Waiting::sleep);
  OwnedWeights tied(odd_config(true)), untied(odd_config(false));
  EXPECT_EQ(untied.set.gradient_elements(), untied.set.elements());
  const std::int64_t head = 37 * 18;
  ASSERT_EQ(tied.set.gradient_elements(), tied.set.elements() + head);
  std::vector<float> block(static_cast<std::size_t>(tied.set.gradient_elements()), 1.0f);
  const TensorView view(block.data(), DType::f32, Space::host, {tied.set.gradient_elements()});
  tied.set.bind_gradients(view);
  EXPECT_EQ(tied.set.head_gradient().data(), block.data() + tied.set.elements());
  EXPECT_EQ(tied.set.find("model.embed_tokens.weight")->gradient.data(), block.data());
  for (float& v : tied.set.head_gradient().span<float>()) v = 2.0f;
  tied.set.fold_tied_gradient(stream, view);
  for (float v : tied.set.find("model.embed_tokens.weight")->gradient.span<float>()) EXPECT_EQ(v, 3.0f);
  EXPECT_EQ(block[static_cast<std::size_t>(head)], 1.0f);

  std::vector<float> other(static_cast<std::size_t>(untied.set.elements()), 1.0f);
  const TensorView other_view(other.data(), DType::f32, Space::host, {untied.set.elements()});
  untied.set.bind_gradients(other_view);
  EXPECT_EQ(untied.set.head_gradient().data(), untied.set.find("lm_head.weight")->gradient.data());
  untied.set.fold_tied_gradient(stream, other_view);
  for (float v : other) EXPECT_EQ(v, 1.0f);
}

TEST(HfFolder, ComesBackAsItWasWritten) {
  for (const bool tied : {false, true}) {
    OwnedWeights written(odd_config(tied));
    written.set.initialise(5);
    const auto folder = scratch_folder(tied ? "tied" : "untied");
    write_hf_folder(folder, written.set);
    OwnedWeights read(read_hf_config(folder));
    load_hf_weights(folder, read.set);
    EXPECT_EQ(read.set.hash(), written.set.hash());
    EXPECT_TRUE(std::filesystem::exists(folder / "generation_config.json"));
  }
}

TEST(HfFolder, ListsWhatIsMissingExtraOrOfAnotherShapeAndLoadsNothing) {
  const auto folder = scratch_folder("wrong");
  OwnedWeights good(odd_config(true));
  good.set.initialise(5);
  write_hf_folder(folder, good.set);
  std::vector<SafetensorsTensor> tensors;
  for (const Parameter& parameter : good.set.parameters()) {
    if (parameter.name == "model.norm.weight") continue;
    const bool reshaped = parameter.name == "model.layers.0.mlp.down_proj.weight";
    tensors.push_back({parameter.name, reshaped ? parameter.weight.reshaped({29, 18}) : parameter.weight});
  }
  tensors.push_back({"model.layers.0.self_attn.q_proj.bias", good.set.all().rows(0, 60)});
  tensors.push_back({"model.layers.0.self_attn.rotary_emb.inv_freq", good.set.all().rows(0, 5)});
  write_safetensors(folder / "model.safetensors", tensors, {});
  OwnedWeights target(odd_config(true));
  target.set.initialise(9);
  const std::string before = target.set.hash();
  std::size_t faults = 0;
  EXPECT_EQ(load_code(folder, target.set, &faults), ExitCode::data);
  EXPECT_EQ(faults, 3u);
  EXPECT_EQ(target.set.hash(), before);
}

TEST(HfFolder, AcceptsATiedHeadOnlyWhenItRepeatsTheEmbedding) {
  const auto folder = scratch_folder("repeated");
  OwnedWeights owned(odd_config(true));
  owned.set.initialise(5);
  write_hf_folder(folder, owned.set);
  std::vector<SafetensorsTensor> tensors;
  for (const Parameter& parameter : owned.set.parameters()) tensors.push_back({parameter.name, parameter.weight});
  std::size_t faults = 0;
  tensors.push_back({"lm_head.weight", owned.set.parameters().front().weight});
  write_safetensors(folder / "model.safetensors", tensors, {});
  EXPECT_EQ(load_code(folder, owned.set, &faults), ExitCode::ok);
  tensors.back().view = owned.set.all().rows(18, 37 * 18).reshaped({37, 18});
  write_safetensors(folder / "model.safetensors", tensors, {});
  EXPECT_EQ(load_code(folder, owned.set, &faults), ExitCode::data);
  EXPECT_EQ(faults, 1u);
}

TEST(HfFolder, ReadsWeightsThatAreSplitOverFiles) {
  const auto folder = scratch_folder("split");
  OwnedWeights owned(odd_config(true));
  owned.set.initialise(5);
  write_hf_folder(folder, owned.set);
  std::filesystem::remove(folder / "model.safetensors");
  std::size_t faults = 0;
  EXPECT_EQ(load_code(folder, owned.set, &faults), ExitCode::no_input);
  std::ofstream(folder / "model.safetensors.index.json") << "{}";
  EXPECT_EQ(load_code(folder, owned.set, &faults), ExitCode::data);

  std::vector<SafetensorsTensor> part[2];
  nlohmann::json map;
  for (const Parameter& parameter : owned.set.parameters()) {
    const std::size_t which = part[0].size() <= part[1].size() ? 0 : 1;
    part[which].push_back({parameter.name, parameter.weight});
    map[parameter.name] = which == 0 ? "a.safetensors" : "b.safetensors";
  }
  write_safetensors(folder / "a.safetensors", part[0], {});
  write_safetensors(folder / "b.safetensors", part[1], {});
  std::ofstream(folder / "model.safetensors.index.json") << nlohmann::json{{"weight_map", map}};
  OwnedWeights read(odd_config(true));
  EXPECT_EQ(load_code(folder, read.set, &faults), ExitCode::ok);
  EXPECT_EQ(read.set.hash(), owned.set.hash());
}

TEST(HfFolder, ReplacesWeightsInTheOtherForm) {
  const auto folder = scratch_folder("forms");
  OwnedWeights first(odd_config(true)), second(odd_config(true)), read(odd_config(true));
  first.set.initialise(5);
  second.set.initialise(6);
  write_hf_folder(folder, first.set);
  ExportOptions options;
  options.file_bytes = 4096;
  const ExportPlan plan = plan_hf_weights(second.set, options);
  ASSERT_GT(plan.files.size(), 2u);
  write_hf_folder(folder, published_contents(second.set.config()), plan, RankGroup(MPI_COMM_SELF),
                  [&](std::size_t i) { return second.set.parameters()[i].weight.span<float>(); });
  load_hf_weights(folder, read.set);
  EXPECT_EQ(read.set.hash(), second.set.hash());
  write_hf_folder(folder, first.set);
  load_hf_weights(folder, read.set);
  EXPECT_EQ(read.set.hash(), first.set.hash());
}

TEST(HfFolder, ChangesOnlyTheTypeInAPublishedConfiguration) {
  const std::string published = "{\"b\": 1e-05, \"torch_dtype\": \"bfloat16\", \"a\": [1]}";
  EXPECT_EQ(config_with_dtype(published, DType::bf16), published);
  EXPECT_EQ(nlohmann::ordered_json::parse(config_with_dtype(published, DType::f32)).dump(),
            "{\"b\":1e-05,\"torch_dtype\":\"float32\",\"a\":[1]}");
  EXPECT_EQ(nlohmann::json::parse(config_with_dtype("{\"dtype\": \"float16\"}", DType::f32)),
            nlohmann::json::parse("{\"dtype\": \"float32\"}"));
}

}  // namespace
}  // namespace maxplus
