// A network whose layers are kept in fewer bits and brought one at a time says, bit for bit, what the network with its
// matrices rounded says.
#include "model/frozen_weights.hpp"

#include <cmath>
#include <functional>

#include <gtest/gtest.h>

#include "model/test_model.hpp"
#include "reference/elementwise.hpp"
#include "reference/quantized.hpp"

namespace maxplus {
namespace {

// Weights of another network as if they lay in a file.
class WeightsInMemory final : public WeightSource {
 public:
  explicit WeightsInMemory(const WeightSet& set) : set_(set) {
    for (const Parameter& p : set.parameters()) tensors_.push_back({p.name, "F32", p.global_extents, where_});
  }
  const std::string& where() const override { return where_; }
  const std::vector<Tensor>& tensors() const override { return tensors_; }
  std::string readable_types() const override { return "F32"; }
  bool is_readable(std::size_t) const override { return true; }
  void read(std::size_t tensor, std::span<float> out) const override {
    const std::span<float> values = set_.parameters()[tensor].weight.span<float>();
    std::copy(values.begin(), values.end(), out.begin());
  }
  bool are_equal(std::size_t a, std::size_t b) const override { return a == b; }

 private:
  const WeightSet& set_;
  std::string where_ = "memory";
  std::vector<Tensor> tensors_;
};

ModelSetup inference_setup() {
  ModelSetup setup;
  setup.limits = {90, 4, 0, 0, 7};
  setup.use = Transformer::Use::inference;
  return setup;
}

struct FrozenModel {
  FrozenModel(const ModelConfig& config, StoredType type, const ModelSetup& setup)
      : stream(setup.threads, Stream::Waiting::sleep), arena("frozen", bytes(config, type, setup), Space::host) {
    poison(arena, stream);
    weights = std::make_unique<FrozenWeights>(config, type, arena);
    network = make(*weights, setup, stream, arena);
  }
  static std::unique_ptr<Transformer> make(FrozenWeights& weights, const ModelSetup& setup, const Stream& stream,
                                           Arena& arena) {
    return std::make_unique<Transformer>(weights.window(), setup.use, setup.arithmetic, setup.limits, stream, arena,
                                         arena, &weights);
  }
  static std::size_t bytes(const ModelConfig& config, StoredType type, const ModelSetup& setup) {
    const Stream alone(setup.threads, Stream::Waiting::sleep);
    Arena counted("frozen");
    FrozenWeights weights(config, type, counted);
    make(weights, setup, alone, counted);
    return counted.peak();
  }

  Stream stream;
  Arena arena;
  std::unique_ptr<FrozenWeights> weights;
  std::unique_ptr<Transformer> network;
};

std::vector<float> log_probs_of(Transformer& network) {
  TokenBatch batch;
  HeadTargets targets;
  for (const std::int64_t length : {41, 7, 30}) {
    const std::vector<std::int32_t> tokens = some_tokens(length, static_cast<std::uint32_t>(length), 37);
    const auto first = static_cast<std::int32_t>(batch.tokens());
    batch.append(tokens, -1);
    for (std::size_t t = 1; t < tokens.size(); ++t) {
      targets.row.push_back(first + static_cast<std::int32_t>(t) - 1);
      targets.target.push_back(tokens[t]);
    }
  }
  std::vector<float> log_prob(targets.row.size(), NAN), entropy(targets.row.size(), NAN);
  network.forward(batch);
  network.score(targets, 1.0f, log_prob, entropy);
  return log_prob;
}

using Rounding = std::function<std::vector<float>(const std::vector<float>&)>;

std::vector<float> to_bf16_and_back(const std::vector<float>& x) {
  std::vector<float> back;
  for (const float value : x) back.push_back(reference::bf16_value(reference::bf16_bits(value)));
  return back;
}

// Matrices of layers; everything else stays.
void round_layers(TestModel& model, const Rounding& rounding) {
  for (const Parameter& p : model.weights.parameters()) {
    if (p.global_extents.size() < 2 || p.name.find(".layers.") == std::string::npos) continue;
    const std::span<float> values = p.weight.span<float>();
    const std::vector<float> rounded = rounding(std::vector<float>(values.begin(), values.end()));
    std::copy(rounded.begin(), rounded.end(), values.begin());
  }
  model.network->pack_weights();
}

class FrozenFamilies : public testing::TestWithParam<std::string> {};

TEST_P(FrozenFamilies, SaysWhatTheRoundedNetworkSays) {
  const std::pair<StoredType, Rounding> types[] = {{StoredType::f32, [](const auto& x) { return x; }},
                                                   {StoredType::bf16, to_bf16_and_back},
                                                   {StoredType::q8, reference::through_eight_bits}};
  const ModelConfig config = odd_config_of(GetParam());
  std::vector<std::vector<float>> said;
  for (const auto& [type, rounding] : types) {
    for (const int threads : {1, 2}) {
      ModelSetup setup = inference_setup();
      setup.threads = threads;
      TestModel plain(config, setup);
      plain.initialise_everything(11);
      FrozenModel frozen(config, type, setup);
      frozen.weights->load(frozen.stream, std::make_shared<WeightsInMemory>(plain.weights));
      frozen.network->pack_weights();
      EXPECT_EQ(frozen.weights->relative_error() == 0, type == StoredType::f32);
      EXPECT_LT(frozen.weights->relative_error(), 0.01);
      round_layers(plain, rounding);
      said.push_back(log_probs_of(*frozen.network));
      EXPECT_TRUE(same_bits(said.back(), log_probs_of(*plain.network))) << "on " << threads;
    }
  }
  EXPECT_NE(said[0], said[2]);
  EXPECT_NE(said[0], said[4]);
  EXPECT_NE(said[2], said[4]);
}

INSTANTIATE_TEST_SUITE_P(Model, FrozenFamilies, testing::Values("llama", "qwen2", "qwen3", "mistral", "gemma2"),
                         [](const auto& family) { return family.param; });

TEST(FrozenWeights, TakesTheMemoryOfItsTypeAndOfOneLayer) {
  ModelConfig config = odd_config(true);
  config.width = 96, config.ffn_width = 320, config.layers = 12;
  const auto taken = [&](StoredType type) {
    Arena counted("frozen");
    const FrozenWeights weights(config, type, counted);
    return static_cast<double>(counted.peak());
  };
  ModelConfig none = config;
  none.layers = 0;
  const double layers = static_cast<double>(parameter_count(config) - parameter_count(none));
  const double outside = taken(StoredType::f32) - 4 * layers;
  EXPECT_NEAR(taken(StoredType::bf16) - outside, 2 * layers, 0.02 * layers);
  EXPECT_NEAR(taken(StoredType::q8) - outside, 1.125 * layers, 0.02 * layers);
}

TEST(FrozenWeights, IsAsStrictAsAnyLoad) {
  TestModel other(odd_config(true), inference_setup());
  other.initialise(1);
  ModelConfig wider = odd_config(true);
  wider.ffn_width += 1;
  FrozenModel frozen(wider, StoredType::bf16, inference_setup());
  EXPECT_THROW(frozen.weights->load(frozen.stream, std::make_shared<WeightsInMemory>(other.weights)), Error);
}

}  // namespace
}  // namespace maxplus
