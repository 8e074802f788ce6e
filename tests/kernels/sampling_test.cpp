// Drawing a token: the intervals of [0, 1) that tokens own against plain double loops, rules, teams and row blocks.
#include "ops/sampling.hpp"

#include <gtest/gtest.h>

#include "kernels/every_set.hpp"
#include "kernels/host_tensors.hpp"
#include "ops/logprob.hpp"
#include "reference/sampling.hpp"

namespace maxplus {
namespace {

using test::poisoned;
using test::seeded;
using test::view_of;

constexpr double kTolerance =
    5e-6;  // float sums of 1,000 exponentials; also how far a drawn interval's border may move
constexpr float kInverseTemperature = 0.9f;

struct Draw {
  std::vector<std::int32_t> token;
  std::vector<float> log_prob, plain_log_prob;
};

Draw draw(int threads, std::vector<float> logits, std::int64_t vocabulary, std::vector<float> uniform,
          const ops::SamplingRule& rule) {
  const Stream stream(threads, Stream::Waiting::sleep);
  const auto rows = static_cast<std::int64_t>(uniform.size());
  std::vector<float> maximum = poisoned(rows), log_sum = poisoned(rows), entropy = poisoned(rows);
  std::vector<float> scratch = poisoned(ops::sampling_scratch(stream, vocabulary));
  Draw result{std::vector<std::int32_t>(static_cast<std::size_t>(rows), -1), poisoned(rows), poisoned(rows)};
  const TensorView view = view_of(logits, {rows, vocabulary});
  ops::softmax_statistics(stream, view_of(maximum, {rows}), view_of(log_sum, {rows}), view_of(entropy, {rows}), view,
                          rule.inverse_temperature);
  ops::sample(stream, view_of(result.token, {rows}), view_of(result.log_prob, {rows}), view, view_of(maximum, {rows}),
              view_of(log_sum, {rows}), view_of(uniform, {rows}),
              view_of(scratch, {static_cast<std::int64_t>(scratch.size())}), rule);
  std::vector<std::int32_t> row(static_cast<std::size_t>(rows));
  for (std::size_t r = 0; r < row.size(); ++r) row[r] = static_cast<std::int32_t>(r);
  ops::gather_log_prob(stream, view_of(result.plain_log_prob, {rows}), view, view_of(maximum, {rows}),
                       view_of(log_sum, {rows}), view_of(row, {rows}), view_of(result.token, {rows}),
                       rule.inverse_temperature);
  return result;
}

std::vector<float> uniforms(std::size_t count) {
  std::vector<float> u;
  for (std::size_t i = 0; i < count; ++i) u.push_back(uniform(11, Purpose::test, i, 5));
  return u;
}

// The drawn token's interval of running probability holds u, and log_prob is the logarithm of the interval's length.
// `order` lists tokens in the order in which they are summed.
void expect_interval(const std::vector<std::size_t>& order, const std::vector<double>& probability, float u,
                     std::int32_t token, float log_prob) {
  double below = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (order[i] == static_cast<std::size_t>(token)) {
      EXPECT_GE(u, below - kTolerance);
      EXPECT_LE(u, below + probability[i] + kTolerance);
      EXPECT_NEAR(log_prob, std::log(probability[i]), kTolerance * std::fmax(1, -std::log(probability[i])));
      return;
    }
    below += probability[i];
  }
  ADD_FAILURE() << "token " << token << " is not in the kept set";
}

TEST(Sampling, DrawsTheTokenWhoseIntervalHoldsTheUniformNumber) {
  const std::vector<float> u = uniforms(40);
  for (std::int64_t vocabulary : {1, 16, 255, 256, 257, 1003}) {
    const std::vector<float> logits = seeded(40 * vocabulary, 1, 4);
    const Draw d = draw(2, logits, vocabulary, u, {.inverse_temperature = kInverseTemperature});
    for (std::size_t r = 0; r < u.size(); ++r) {
      const std::vector<double> row(logits.begin() + static_cast<std::int64_t>(r) * vocabulary,
                                    logits.begin() + static_cast<std::int64_t>(r + 1) * vocabulary);
      std::vector<std::size_t> order(row.size());
      std::iota(order.begin(), order.end(), std::size_t{0});
      std::vector<double> probability = reference::log_softmax(row, kInverseTemperature);
      for (double& p : probability) p = std::exp(p);
      expect_interval(order, probability, u[r], d.token[r], d.log_prob[r]);
    }
    EXPECT_TRUE(test::same_bits(d.log_prob, d.plain_log_prob));
  }
}

TEST(Sampling, DrawsFromTheRenormalisedKeptSet) {
  const std::int64_t vocabulary = 1003;
  const std::vector<float> u = uniforms(25), logits = seeded(25 * vocabulary, 2, 5);
  for (std::int32_t top_k : {0, 1, 3, 64, 1002, 1003, 5000}) {
    for (float top_p : {0.0f, 0.05f, 0.5f, 0.97f, 1.0f}) {
      if (top_p == 1.0f && (top_k == 0 || top_k >= vocabulary)) continue;
      const Draw d =
          draw(2, logits, vocabulary, u, {.inverse_temperature = kInverseTemperature, .top_k = top_k, .top_p = top_p});
      for (std::size_t r = 0; r < u.size(); ++r) {
        const std::vector<double> row(logits.begin() + static_cast<std::int64_t>(r) * vocabulary,
                                      logits.begin() + static_cast<std::int64_t>(r + 1) * vocabulary);
        auto kept =
            reference::kept_set(row, kInverseTemperature, static_cast<std::size_t>(top_k), std::max(top_p, 1e-6f));
        expect_interval(kept.token, kept.probability, u[r], d.token[r], d.log_prob[r]);
      }
    }
  }
}

TEST(Sampling, TakesTheLowestIndexAmongEqualLogits) {
  std::vector<float> logits(600, -1.0f);
  for (std::size_t j : {37, 300, 599}) logits[j] = 2.0f;
  EXPECT_EQ(draw(1, logits, 600, {0.999f}, {.greedy = true}).token[0], 37);
  EXPECT_EQ(draw(1, logits, 600, {0.49f}, {.top_k = 2}).token[0], 37);
  EXPECT_EQ(draw(1, logits, 600, {0.999f}, {.top_k = 2}).token[0], 300);
  EXPECT_EQ(draw(1, std::vector<float>(600, 0.5f), 600, {0.999f}, {.top_k = 3}).token[0], 2);
  const Draw greedy = draw(1, logits, 600, {0.1f}, {.inverse_temperature = 0.7f, .greedy = true});
  EXPECT_TRUE(test::same_bits(greedy.log_prob, greedy.plain_log_prob));
}

TEST(Sampling, NeverDrawsATokenOfZeroProbabilityAtTheEnds) {
  std::vector<float> logits(700, -1e4f);
  logits[300] = logits[301] = 0;
  EXPECT_EQ(draw(1, logits, 700, {0.0f}, {}).token[0], 300);
  EXPECT_EQ(draw(1, logits, 700, {1 - 0x1.0p-24f}, {}).token[0], 301);
  EXPECT_EQ(draw(1, logits, 700, {1 - 0x1.0p-24f}, {.top_k = 5}).token[0], 301);
}

TEST(Sampling, KeepsTheRightSetForLogitsOfAnySpread) {
  const std::int64_t vocabulary = 531;
  const std::vector<float> u = uniforms(12);
  for (float spread : {1e-6f, 0.1f, 40.0f, 1e5f}) {
    const std::vector<float> logits = seeded(12 * vocabulary, 4, spread);
    for (const ops::SamplingRule& rule :
         {ops::SamplingRule{.inverse_temperature = 1.3f, .top_k = 200},
          ops::SamplingRule{.inverse_temperature = 1.3f, .top_p = 0.999f},
          ops::SamplingRule{.inverse_temperature = 1.3f, .top_k = 530, .top_p = 0.7f}}) {
      const Draw d = draw(2, logits, vocabulary, u, rule);
      for (std::size_t r = 0; r < u.size(); ++r) {
        const std::vector<double> row(logits.begin() + static_cast<std::int64_t>(r) * vocabulary,
                                      logits.begin() + static_cast<std::int64_t>(r + 1) * vocabulary);
        const auto kept =
            reference::kept_set(row, static_cast<double>(1.3f), static_cast<std::size_t>(rule.top_k), rule.top_p);
        expect_interval(kept.token, kept.probability, u[r], d.token[r], d.log_prob[r]);
      }
    }
  }
}

TEST(Sampling, DrawsWithTheRightFrequencies) {
  const std::size_t draws = 20000;
  const std::vector<float> row = {0.0f, 1.0f, -1.0f, 0.5f};
  std::vector<float> logits;
  for (std::size_t r = 0; r < draws; ++r) logits.insert(logits.end(), row.begin(), row.end());
  const Draw d = draw(2, logits, 4, uniforms(draws), {});
  const std::vector<double> log_p = reference::log_softmax(test::to_double(row), 1);
  for (std::size_t j = 0; j < 4; ++j) {
    const double p = std::exp(log_p[j]), deviation = std::sqrt(p * (1 - p) / static_cast<double>(draws));
    const auto hits = std::count(d.token.begin(), d.token.end(), static_cast<std::int32_t>(j));
    EXPECT_NEAR(static_cast<double>(hits) / static_cast<double>(draws), p, 4 * deviation);
  }
}

TEST(Sampling, DrawsTheSameTokensOnAnyTeamAndForARowAlone) {
  const std::int64_t vocabulary = 517;
  const std::vector<float> u = uniforms(23), logits = seeded(23 * vocabulary, 3, 4);
  for (const ops::SamplingRule& rule :
       {ops::SamplingRule{}, ops::SamplingRule{.top_k = 40, .top_p = 0.9f}, ops::SamplingRule{.greedy = true}}) {
    const Draw one = draw(1, logits, vocabulary, u, rule);
    test::with_every_set_and_team([&](int threads) {
      const Draw other = draw(threads, logits, vocabulary, u, rule);
      EXPECT_EQ(one.token, other.token);
      EXPECT_TRUE(test::same_bits(one.log_prob, other.log_prob));
    });
    const Draw alone =
        draw(2, {logits.begin() + 7 * vocabulary, logits.begin() + 8 * vocabulary}, vocabulary, {u[7]}, rule);
    EXPECT_EQ(alone.token[0], one.token[7]);
    EXPECT_TRUE(test::same_bits(alone.log_prob, {one.log_prob[7]}));
  }
}

}  // namespace
}  // namespace maxplus
