// AdamW against PyTorch's, and the rules around it: clipping, decay, skipping, norms.
#include "optim/adamw.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <memory>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/random.hpp"
#include "optim/lr_schedule.hpp"

namespace maxplus {
namespace {

constexpr double kFloatTolerance = 1e-6;  // what the reference data allow for fp32, relative to the larger of 1 and the value
constexpr double kNormTolerance = 1e-6;   // double sums of f32 squares; the inputs are rounded to f32

// Parameters over one block each of weights and gradients, as a model holds them.
struct Block {
  explicit Block(const std::vector<std::int64_t>& sizes) {
    std::int64_t total = 0;
    for (std::int64_t size : sizes) total += size;
    weights.resize(static_cast<std::size_t>(total));
    gradients.resize(static_cast<std::size_t>(total));
    std::int64_t at = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      Parameter p;
      p.name = std::string(1, static_cast<char>('z' - i));  // names in the reverse of the order in memory
      p.global_extents = {sizes[i]};
      p.weight = TensorView(weights.data() + at, DType::f32, Space::host, {sizes[i]});
      parameters.push_back(p);
      at += sizes[i];
    }
  }
  AdamW optimizer(const AdamWSettings& settings) {
    Arena plan("plan");
    const AdamW planned(parameters, settings, plan);
    arena = std::make_unique<Arena>("optimizer", plan.peak(), Space::host);
    return AdamW(parameters, settings, *arena);
  }
  TensorView gradient() { return TensorView(gradients.data(), DType::f32, Space::host, {static_cast<std::int64_t>(gradients.size())}); }

  std::vector<float> weights, gradients;
  std::vector<Parameter> parameters;
  std::unique_ptr<Arena> arena;
};

float draw(std::uint64_t stream, std::uint64_t i) { return uniform(7, Purpose::test, stream, i) - 0.5f; }

void expect_near(const std::vector<double>& right, const float* found) {
  for (std::size_t i = 0; i < right.size(); ++i) {
    EXPECT_NEAR(found[i], right[i], kFloatTolerance * std::max(1.0, std::abs(right[i])));
  }
}

TEST(AdamW, FollowsPyTorchThroughClippingWarmUpAndCosine) {
  std::ifstream file(MAXPLUS_TEST_DATA "/rl/adamw.json");
  ASSERT_TRUE(file.good());
  const auto golden = nlohmann::json::parse(file);
  const auto initial = golden["initial"].get<std::vector<double>>();
  Block block({3, 4});
  std::copy(initial.begin(), initial.end(), block.weights.begin());
  AdamW adamw = block.optimizer({golden["beta1"], golden["beta2"], golden["eps"], golden["weight_decay"], golden["clip_global_norm"]});
  const LearningRateSchedule schedule{golden["base_lr"], ScheduleShape::cosine, 5, 25, 0.1};
  const Stream stream(1, Stream::Waiting::sleep);
  for (const auto& step : golden["steps"]) {
    const double rate = schedule.rate(step["step"]);
    EXPECT_NEAR(rate, step["lr"].get<double>(), 1e-15);
    const auto gradient = step["gradient"].get<std::vector<double>>();
    std::copy(gradient.begin(), gradient.end(), block.gradients.begin());
    const UpdateReport report = adamw.step(stream, block.gradient(), rate);
    EXPECT_FALSE(report.skipped);
    EXPECT_NEAR(report.gradient_norm, step["norm_before_clip"].get<double>(), kNormTolerance);
    expect_near(step["parameter"].get<std::vector<double>>(), block.weights.data());
    expect_near(step["exp_avg"].get<std::vector<double>>(), adamw.first_moment().as<float>());
    expect_near(step["exp_avg_sq"].get<std::vector<double>>(), adamw.second_moment().as<float>());
  }
  EXPECT_EQ(adamw.steps(), 25);
}

TEST(AdamW, ChangesNothingWhenTheGradientIsNotFinite) {
  for (float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    Block block({5000, 77});
    for (std::size_t i = 0; i < block.weights.size(); ++i) block.weights[i] = draw(1, i), block.gradients[i] = draw(2, i);
    AdamW adamw = block.optimizer({});
    const Stream stream(1, Stream::Waiting::sleep);
    block.gradients[5050] = bad;
    const std::vector<float> before = block.weights;
    const UpdateReport report = adamw.step(stream, block.gradient(), 0.1);
    EXPECT_TRUE(report.skipped);
    EXPECT_FALSE(std::isfinite(report.gradient_norm));
    EXPECT_EQ(block.weights, before);
    EXPECT_EQ(adamw.steps(), 0);
    for (float m : adamw.first_moment().span<float>()) ASSERT_EQ(m, 0.0f);
  }
}

TEST(AdamW, TakesNoStepWhenTheGradientIsZeroEverywhere) {
  Block block({5000, 77});
  for (std::size_t i = 0; i < block.weights.size(); ++i) block.weights[i] = draw(1, i), block.gradients[i] = draw(2, i);
  AdamW adamw = block.optimizer({0.9, 0.95, 1e-8, 0.5, 0.0});
  const Stream stream(1, Stream::Waiting::sleep);
  adamw.step(stream, block.gradient(), 0.1);  // so that momentum and decay would move the weights
  const std::vector<float> before = block.weights;
  std::fill(block.gradients.begin(), block.gradients.end(), 0.0f);
  const UpdateReport report = adamw.step(stream, block.gradient(), 0.1);
  EXPECT_TRUE(report.skipped);
  EXPECT_EQ(report.gradient_norm, 0.0);
  EXPECT_EQ(block.weights, before);
  EXPECT_EQ(adamw.steps(), 1);
}

TEST(AdamW, ReportsTheNormOfTheChange) {
  Block block({300001, 4097, 1});
  for (std::size_t i = 0; i < block.weights.size(); ++i) block.weights[i] = draw(3, i), block.gradients[i] = draw(4, i);
  AdamW adamw = block.optimizer({});
  const Stream stream(1, Stream::Waiting::sleep);
  const std::vector<float> before = block.weights;
  const UpdateReport report = adamw.step(stream, block.gradient(), 0.01);
  double squares = 0, gradient_squares = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const double change = static_cast<double>(block.weights[i]) - static_cast<double>(before[i]);
    squares += change * change;
    gradient_squares += static_cast<double>(block.gradients[i]) * static_cast<double>(block.gradients[i]);
  }
  EXPECT_NEAR(report.update_norm / std::sqrt(squares), 1.0, 1e-9);  // doubles, and differences that are exact in f32
  EXPECT_NEAR(report.gradient_norm / std::sqrt(gradient_squares), 1.0, 1e-12);
}

TEST(AdamW, DecaysOnlyWhereTheParameterSaysSoAndLeavesFrozenOnesAlone) {
  Block block({10, 10, 10});
  std::fill(block.weights.begin(), block.weights.end(), 2.0f);
  block.parameters[1].decayed = false;
  block.parameters[2].trainable = false;
  std::fill(block.gradients.begin(), block.gradients.end(), 0.0f);
  block.gradients[9] = 1.0f;  // a gradient of 0 everywhere is no step
  for (std::size_t i = 20; i < 30; ++i) block.gradients[i] = std::numeric_limits<float>::quiet_NaN();  // not looked at
  AdamW adamw = block.optimizer({0.9, 0.95, 1e-8, 0.5, 0.0});
  const Stream stream(1, Stream::Waiting::sleep);
  const UpdateReport report = adamw.step(stream, block.gradient(), 0.1);
  EXPECT_FALSE(report.skipped);
  EXPECT_FLOAT_EQ(block.weights[0], 2.0f * (1.0f - 0.1f * 0.5f));
  EXPECT_EQ(block.weights[10], 2.0f);
  EXPECT_EQ(block.weights[20], 2.0f);
}

TEST(AdamW, AddsNormsInOrderOfNamesNotOfMemory) {
  // The same tensors in another order in memory give the same bits.
  Block one({9000, 5001}), other({5001, 9000});
  std::swap(other.parameters[0].name, other.parameters[1].name);
  for (std::size_t i = 0; i < 9000; ++i) one.gradients[i] = other.gradients[5001 + i] = draw(5, i);
  for (std::size_t i = 0; i < 5001; ++i) one.gradients[9000 + i] = other.gradients[i] = 1e3f * draw(6, i);
  const Stream stream(1, Stream::Waiting::sleep);
  EXPECT_EQ(one.optimizer({}).gradient_norm(stream, one.gradient()), other.optimizer({}).gradient_norm(stream, other.gradient()));
}

TEST(AdamW, GoesOnFromSavedState) {
  Block block({123});
  const Stream stream(1, Stream::Waiting::sleep);
  for (std::size_t i = 0; i < 123; ++i) block.weights[i] = draw(8, i), block.gradients[i] = draw(9, i);
  AdamW first = block.optimizer({});
  first.step(stream, block.gradient(), 0.01);
  Block copy({123});
  std::copy(block.weights.begin(), block.weights.end(), copy.weights.begin());
  std::copy(block.gradients.begin(), block.gradients.end(), copy.gradients.begin());
  AdamW second = copy.optimizer({});
  std::copy_n(first.first_moment().as<float>(), 123, second.first_moment().as<float>());
  std::copy_n(first.second_moment().as<float>(), 123, second.second_moment().as<float>());
  second.set_steps(first.steps());
  first.step(stream, block.gradient(), 0.01);
  second.step(stream, copy.gradient(), 0.01);
  EXPECT_TRUE(std::equal(block.weights.begin(), block.weights.end(), copy.weights.begin()));
}

}  // namespace
}  // namespace maxplus
