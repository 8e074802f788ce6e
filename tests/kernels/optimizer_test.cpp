// AdamW against double loops and the golden run of an established implementation; sums of squares against double.
#include "ops/optimizer.hpp"

#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "kokkos/kernel_table.hpp"
#include "reference/optimizer.hpp"
#include "reference/random_values.hpp"

namespace maxplus {
namespace {

using reference::random_values;

constexpr std::int64_t kElements = 9001;
constexpr double kOneStep = 4e-7;      // of the weight's scale 1: a few roundings in fp32
constexpr double kGoldenWeight = 1e-6; // what golden/README.md allows in fp32

TensorView view(std::vector<float>& values) {
  return TensorView(values.data(), DType::f32, Space::host, {static_cast<std::int64_t>(values.size())});
}

ops::AdamWStep some_step() { return {1e-2f, 0.9f, 0.95f, 1e-8f, 0.1f, 0.7f, 0.271f, 0.377f}; }

struct State {
  std::vector<float> weight = random_values(kElements, 1), first = random_values(kElements, 2), second;
  std::vector<float> gradient = random_values(kElements, 4);
  State() : second(random_values(kElements, 3)) {
    for (float& x : second) x = std::fabs(x);
  }
};

TEST(AdamW, FollowsTheDoubleLoop) {
  Stream stream(2, Stream::Waiting::sleep);
  State s;
  reference::AdamWState expected{{s.weight.begin(), s.weight.end()}, {s.first.begin(), s.first.end()}, {s.second.begin(), s.second.end()}};
  const std::vector<float> gradient = s.gradient;
  reference::adamw(expected, gradient, some_step());
  ops::adamw(stream, view(s.weight), view(s.first), view(s.second), view(s.gradient), some_step());
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    ASSERT_NEAR(s.weight[i], expected.weight[i], kOneStep * (1.0 + 1.0 / std::sqrt(expected.second_moment[i]))) << i;
    ASSERT_NEAR(s.first[i], expected.first_moment[i], kOneStep);
    ASSERT_NEAR(s.second[i], expected.second_moment[i], kOneStep);
  }
  EXPECT_EQ(s.gradient, gradient);
}

TEST(AdamW, GivesTheSameBitsOnAnyThreadsAndInstructionSet) {
  const host::InstructionSet before = host::instruction_set_in_use();
  State first;
  Stream one(1, Stream::Waiting::sleep);
  host::use_instruction_set(host::InstructionSet::plain);
  ops::adamw(one, view(first.weight), view(first.first), view(first.second), view(first.gradient), some_step());
  for (int set = 0; set <= static_cast<int>(host::best_instruction_set()); ++set) {
    host::use_instruction_set(static_cast<host::InstructionSet>(set));
    for (int threads = 1; threads <= 3; ++threads) {
      Stream stream(threads, Stream::Waiting::sleep);
      State s;
      ops::adamw(stream, view(s.weight), view(s.first), view(s.second), view(s.gradient), some_step());
      EXPECT_EQ(std::memcmp(s.weight.data(), first.weight.data(), kElements * sizeof(float)), 0);
      EXPECT_EQ(std::memcmp(s.first.data(), first.first.data(), kElements * sizeof(float)), 0);
      EXPECT_EQ(std::memcmp(s.second.data(), first.second.data(), kElements * sizeof(float)), 0);
    }
  }
  host::use_instruction_set(before);
}

TEST(AdamW, FollowsTheGoldenRun) {
  const nlohmann::json golden = nlohmann::json::parse(std::ifstream(MAXPLUS_TEST_DATA "/rl/adamw.json"));
  Stream stream(1, Stream::Waiting::sleep);
  std::vector<float> weight = golden.at("initial").get<std::vector<float>>();
  std::vector<float> first(weight.size(), 0.0f), second(weight.size(), 0.0f);
  const double beta1 = golden.at("beta1"), beta2 = golden.at("beta2");
  for (const nlohmann::json& step : golden.at("steps")) {
    std::vector<float> gradient = step.at("gradient").get<std::vector<float>>();
    double partial = std::numeric_limits<double>::quiet_NaN();
    ops::squared_norm_blocks(stream, TensorView(&partial, DType::f64, Space::host, {1}), view(gradient));
    const double norm = std::sqrt(partial);
    EXPECT_NEAR(norm, step.at("norm_before_clip").get<double>(), 1e-6);
    const double scale = std::min(1.0, golden.at("clip_global_norm").get<double>() / (norm + 1e-6));
    const double number = step.at("step");
    const ops::AdamWStep numbers{step.at("lr").get<float>(),
                                 static_cast<float>(beta1),
                                 static_cast<float>(beta2),
                                 golden.at("eps").get<float>(),
                                 golden.at("weight_decay").get<float>(),
                                 static_cast<float>(scale),
                                 static_cast<float>(1.0 - std::pow(beta1, number)),
                                 static_cast<float>(std::sqrt(1.0 - std::pow(beta2, number)))};
    ops::adamw(stream, view(weight), view(first), view(second), view(gradient), numbers);
    const auto expected = step.at("parameter").get<std::vector<double>>();
    for (std::size_t i = 0; i < weight.size(); ++i) ASSERT_NEAR(weight[i], expected[i], kGoldenWeight) << "step " << number;
  }
}

TEST(SquaredNorm, SumsBlocksInDoubleTheSameOnAnyThreads) {
  std::vector<float> values = random_values(3 * ops::kNormBlock + 77, 5);
  const std::int64_t size = static_cast<std::int64_t>(values.size());
  std::vector<double> first;
  for (int threads = 1; threads <= 3; ++threads) {
    Stream stream(threads, Stream::Waiting::sleep);
    std::vector<double> partial(4, std::numeric_limits<double>::quiet_NaN());
    ops::squared_norm_blocks(stream, TensorView(partial.data(), DType::f64, Space::host, {4}), view(values));
    for (std::int64_t block = 0; block < 4; ++block) {
      const std::int64_t begin = block * ops::kNormBlock;
      const double expected = reference::sum_of_squares(values.data() + begin, std::min(ops::kNormBlock, size - begin));
      EXPECT_NEAR(partial[static_cast<std::size_t>(block)], expected, 1e-12 * expected);
    }
    if (threads == 1) first = partial;
    EXPECT_EQ(partial, first);
  }
}

}  // namespace
}  // namespace maxplus
