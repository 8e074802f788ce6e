// Rotary frequencies with scaling, against the published formulas written out another way, and values computed by hand.
#include "model/rotary_table.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "model/test_model.hpp"

namespace maxplus {
namespace {

constexpr double kTolerance = 1e-12;  // relative, double throughout

// Qwen2.5-7B-Instruct with the scaling that its model card gives for long texts.
ModelConfig qwen_with_yarn() {
  ModelConfig config = odd_config(false);
  config.head_width = 128;
  config.rotary_theta = 1e6;
  config.rotary_scaling.kind = RotaryScaling::Kind::yarn;
  config.rotary_scaling.factor = 4;
  config.rotary_scaling.original_context = 32768;
  return config;
}

TEST(RotaryTable, YarnGivesTheValuesComputedByHandForAQwen) {
  // 32768 / (32 * 2 pi) = 162.97 positions a radian: pair 64 ln(162.97) / ln(1e6) = 23.598, rounded down 23;
  // 32768 / (2 pi) = 5215.2: pair 64 * 8.559386 / 13.815511 = 39.651, rounded up 40.
  const std::vector<double> found = rotary_frequencies(qwen_with_yarn());
  ASSERT_EQ(found.size(), 64u);
  for (int i = 0; i <= 23; ++i) EXPECT_NEAR(found[static_cast<std::size_t>(i)], std::pow(10.0, -6.0 * i / 64), 1e-14);
  for (int i = 40; i < 64; ++i) {
    const double stretched = std::pow(10.0, -6.0 * i / 64) / 4;
    EXPECT_NEAR(found[static_cast<std::size_t>(i)], stretched, kTolerance * stretched);
  }
  // pair 32, 9 / 17 up the ramp: 10^-3 (9 / 17 / 4 + 8 / 17) = 10^-3 * 41 / 68
  EXPECT_NEAR(found[32], 41e-3 / 68, 1e-15);
  EXPECT_NEAR(rotary_magnitude(qwen_with_yarn().rotary_scaling), 1.1386294361119891, 1e-15);  // 0.1 ln 4 + 1
}

// The ramp in terms of turns: pair i makes r = context theta^(-2i/D) / (2 pi) turns within the original context.
TEST(RotaryTable, YarnWithoutRoundingFollowsTheTurnsOfEachPair) {
  ModelConfig config = qwen_with_yarn();
  for (const auto& [width, theta, context] :
       {std::tuple(12, 150000.0, 512), std::tuple(64, 1e4, 4096), std::tuple(10, 500.0, 77)}) {
    config.head_width = width, config.rotary_theta = theta, config.rotary_scaling.original_context = context;
    config.rotary_scaling.ramp = RotaryScaling::Ramp::exact;
    config.rotary_scaling.beta_fast = 20, config.rotary_scaling.beta_slow = 2;
    const std::vector<double> found = rotary_frequencies(config);
    // the pair's number is linear in ln r, so the ramp is too; its lower end is not below pair 0
    const double at_zero = std::log(context / (2 * std::acos(-1.0)));
    const double fast = std::fmin(std::log(20.0), at_zero), slow = std::log(2.0);
    for (int i = 0; i < width / 2; ++i) {
      const double plain = std::pow(theta, -2.0 * i / width), turns = std::log(context * plain / (2 * std::acos(-1.0)));
      const double share = std::fmin(1, std::fmax(0, (fast - turns) / (fast - slow)));
      const double expected = plain * (1 - share) + plain / 4 * share;
      EXPECT_NEAR(found[static_cast<std::size_t>(i)], expected, kTolerance * expected) << width << ", pair " << i;
    }
  }
}

TEST(RotaryTable, YarnsMagnitudeIsTheGivenOneOrThatOfBothScales) {
  RotaryScaling scaling = qwen_with_yarn().rotary_scaling;
  scaling.mscale = 1, scaling.mscale_all_dim = 1;
  EXPECT_DOUBLE_EQ(rotary_magnitude(scaling), 1.0);
  scaling.mscale = 0.707;
  EXPECT_NEAR(rotary_magnitude(scaling), (0.0707 * std::log(4.0) + 1) / (0.1 * std::log(4.0) + 1), 1e-15);
  scaling.mscale_all_dim = 0;  // one of them alone does not count
  EXPECT_NEAR(rotary_magnitude(scaling), 0.1 * std::log(4.0) + 1, 1e-15);
  scaling.attention_factor = 1.25;
  EXPECT_EQ(rotary_magnitude(scaling), 1.25);
  scaling.kind = RotaryScaling::Kind::llama3;
  EXPECT_EQ(rotary_magnitude(scaling), 1.0);
}

TEST(RotaryTable, MultipliesCosinesAndSinesByTheMagnitude) {
  ModelConfig config = qwen_with_yarn();
  config.context = 50;
  const Stream stream(1, Stream::Waiting::sleep);
  Arena arena("tables", 1 << 17, Space::host);
  const RotaryTable table(config, stream, arena);
  const std::vector<double> frequencies = rotary_frequencies(config);
  const double magnitude = 0.1 * std::log(4.0) + 1;
  for (std::size_t position : {0, 1, 49}) {
    for (std::size_t i = 0; i < 64; ++i) {
      const double angle = static_cast<double>(position) * frequencies[i];
      EXPECT_NEAR(table.cosine().span<float>()[position * 64 + i], magnitude * std::cos(angle), 1e-7);
      EXPECT_NEAR(table.sine().span<float>()[position * 64 + i], magnitude * std::sin(angle), 1e-7);
    }
  }
}

// Drawn and scored agree, and gradients fit differences, with queries and keys that the table makes longer.
TEST(RotaryTable, TurnsBackByTheAdjointWhenItAlsoStretches) {
  ModelConfig config = odd_config_of("qwen2");
  config.rotary_scaling = qwen_with_yarn().rotary_scaling;
  config.rotary_scaling.original_context = 20;
  ModelSetup setup;
  setup.limits = {30, 1, 0, 0, 5};
  TestModel model(config, setup);
  model.initialise_everything(9);
  const std::vector<std::int32_t> tokens = some_tokens(30, 4, 37);
  TokenBatch batch;
  batch.append(tokens, -1);
  HeadTargets targets;
  for (std::int32_t t = 1; t < 30; ++t)
    targets.row.push_back(t - 1), targets.target.push_back(tokens[static_cast<std::size_t>(t)]);
  std::vector<float> log_prob(29), entropy(29), one(29, 1.0f), zero(29, 0.0f);
  const auto loss = [&] {
    model.network->pack_weights();
    model.network->forward(batch);
    model.network->score(targets, 1.0f, log_prob, entropy);
    double sum = 0;
    for (float v : log_prob) sum += v;
    return sum;
  };
  loss();
  model.network->backward(one, zero);
  const Parameter* key = model.weights.find("model.layers.0.self_attn.k_proj.weight");
  const auto weight = key->weight.span<float>(), gradient = key->gradient.span<float>();
  double norm = 0;
  for (float g : gradient) norm += static_cast<double>(g) * g;
  norm = std::sqrt(norm);
  const std::vector<float> start(weight.begin(), weight.end());
  constexpr double kStep = 1e-2;
  const auto at = [&](double step) {
    for (std::size_t i = 0; i < start.size(); ++i) weight[i] = static_cast<float>(start[i] + step * gradient[i] / norm);
    return loss();
  };
  constexpr double kSlopeTolerance = 1e-2;  // curvature, and f32 sums near 100 over 2e-2
  EXPECT_NEAR((at(kStep) - at(-kStep)) / (2 * kStep), norm, kSlopeTolerance * norm);
}

}  // namespace
}  // namespace maxplus
