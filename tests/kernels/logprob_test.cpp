// Log-probabilities, entropy and their gradient against plain double loops, finite differences, and row blocks.
#include "ops/logprob.hpp"

#include <gtest/gtest.h>

#include "kernels/every_set.hpp"
#include "kernels/host_tensors.hpp"
#include "reference/logprob.hpp"

namespace maxplus {
namespace {

using test::poisoned;
using test::seeded;
using test::view_of;

constexpr double kTolerance = 5e-6;  // a sum of 1,000 exponentials in sixteen chains of 63, values up to 10
constexpr double kDifferenceTolerance = 1e-7;
constexpr float kInverseTemperature = 0.8f;

struct Case {
  std::int64_t rows, vocabulary;
  std::vector<float> logits, maximum, log_sum, entropy, log_prob, d_log_prob, d_entropy;
  std::vector<std::int32_t> row, target;
};

// Row 1 has three targets (one of them twice), row 2 none, all others one.
Case make_case(std::int64_t rows, std::int64_t vocabulary) {
  Case c{rows, vocabulary, seeded(rows * vocabulary, 1, 6), poisoned(rows), poisoned(rows), poisoned(rows), {}, {}, {},
         {},   {}};
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t n = 0; n < (r == 1 ? 3 : r == 2 ? 0 : 1); ++n) {
      c.row.push_back(static_cast<std::int32_t>(r));
      c.target.push_back(static_cast<std::int32_t>((r * 31 + (n / 2) * 5) % vocabulary));
    }
  }
  const auto targets = static_cast<std::int64_t>(c.row.size());
  c.log_prob = poisoned(targets);
  c.d_log_prob = seeded(targets, 2, 1);
  c.d_entropy = seeded(targets, 3, 1);
  return c;
}

// Forward and backward over rows [first, first + count), as a caller with small buffers would.
void run_rows(const Stream& stream, Case& c, std::int64_t first, std::int64_t count) {
  std::int64_t begin = 0, end = 0;
  while (begin < static_cast<std::int64_t>(c.row.size()) && c.row[static_cast<std::size_t>(begin)] < first) ++begin;
  for (end = begin;
       end < static_cast<std::int64_t>(c.row.size()) && c.row[static_cast<std::size_t>(end)] < first + count;)
    ++end;
  std::vector<std::int32_t> row(c.row.begin() + begin, c.row.begin() + end);
  for (std::int32_t& r : row) r -= static_cast<std::int32_t>(first);
  const auto targets = static_cast<std::int64_t>(c.row.size()), n = end - begin;
  const TensorView logits = view_of(c.logits, {c.rows, c.vocabulary}).rows(first, count);
  const TensorView maximum = view_of(c.maximum, {c.rows}).rows(first, count);
  const TensorView log_sum = view_of(c.log_sum, {c.rows}).rows(first, count);
  const TensorView entropy = view_of(c.entropy, {c.rows}).rows(first, count);
  const TensorView target = view_of(c.target, {targets}).rows(begin, n);
  ops::softmax_statistics(stream, maximum, log_sum, entropy, logits, kInverseTemperature);
  ops::gather_log_prob(stream, view_of(c.log_prob, {targets}).rows(begin, n), logits, maximum, log_sum,
                       view_of(row, {n}), target, kInverseTemperature);
  ops::log_prob_backward(stream, logits, maximum, log_sum, entropy, view_of(row, {n}), target,
                         view_of(c.d_log_prob, {targets}).rows(begin, n),
                         view_of(c.d_entropy, {targets}).rows(begin, n), kInverseTemperature);
}

TEST(LogProb, AgreesWithTheDoubleLoops) {
  const Stream stream(2, Stream::Waiting::sleep);
  for (std::int64_t rows : {0, 1, 5}) {
    for (std::int64_t vocabulary : {1, 15, 16, 17, 257, 1003}) {
      Case c = make_case(rows, vocabulary);
      const std::vector<double> logits = test::to_double(c.logits);
      run_rows(stream, c, 0, rows);
      std::vector<double> entropy, log_prob, d_logits;
      std::size_t n = 0;
      for (std::int64_t r = 0; r < rows; ++r) {
        const std::span<const double> row(&logits[static_cast<std::size_t>(r * vocabulary)],
                                          static_cast<std::size_t>(vocabulary));
        std::vector<std::size_t> target;
        std::vector<double> d_log_prob, d_entropy;
        for (; n < c.row.size() && c.row[n] == r; ++n) {
          target.push_back(static_cast<std::size_t>(c.target[n]));
          d_log_prob.push_back(c.d_log_prob[n]);
          d_entropy.push_back(c.d_entropy[n]);
          log_prob.push_back(reference::log_softmax(row, kInverseTemperature)[target.back()]);
        }
        entropy.push_back(reference::entropy(row, kInverseTemperature));
        const auto d = reference::log_prob_backward(row, target, d_log_prob, d_entropy, kInverseTemperature);
        d_logits.insert(d_logits.end(), d.begin(), d.end());
      }
      EXPECT_LE(test::largest_error(c.entropy, entropy), kTolerance) << rows << " x " << vocabulary;
      EXPECT_LE(test::largest_error(c.log_prob, log_prob), kTolerance) << rows << " x " << vocabulary;
      EXPECT_LE(test::largest_error(c.logits, d_logits), kTolerance) << rows << " x " << vocabulary;
    }
  }
}

TEST(LogProb, HasTheGradientThatDifferencesShow) {
  const std::vector<double> logits = test::to_double(seeded(7, 1, 2));
  const std::vector<std::size_t> target = {3, 0, 3};
  const std::vector<double> d_log_prob = {0.7, -0.2, 0.4}, d_entropy = {0.3, 0.1, -0.6};
  const auto loss = [&](const std::vector<double>& x) {
    double sum = 0;
    for (std::size_t n = 0; n < 3; ++n) {
      sum += d_log_prob[n] * reference::log_softmax(x, 0.8)[target[n]] + d_entropy[n] * reference::entropy(x, 0.8);
    }
    return sum;
  };
  const auto d = reference::log_prob_backward(logits, target, d_log_prob, d_entropy, 0.8);
  for (std::size_t i = 0; i < 7; ++i) EXPECT_NEAR(d[i], test::difference(logits, i, loss), kDifferenceTolerance);
}

TEST(LogProb, GivesTheSameBitsInOneBlockOrManyOnAnyTeam) {
  Case whole = make_case(9, 131);
  run_rows(Stream(1, Stream::Waiting::sleep), whole, 0, 9);
  test::with_every_set_and_team([&](int threads) {
    const Stream stream(threads, Stream::Waiting::sleep);
    Case cut = make_case(9, 131);
    for (std::int64_t first : {0, 1, 2, 6})
      run_rows(stream, cut, first, first == 0 ? 1 : first == 1 ? 1 : first == 2 ? 4 : 3);
    EXPECT_TRUE(test::same_bits(whole.log_prob, cut.log_prob));
    EXPECT_TRUE(test::same_bits(whole.entropy, cut.entropy));
    EXPECT_TRUE(test::same_bits(whole.log_sum, cut.log_sum));
    EXPECT_TRUE(test::same_bits(whole.logits, cut.logits));
  });
}

TEST(LogProb, StaysFiniteForPeakedRows) {
  std::vector<float> logits(50, -1e4f), maximum = poisoned(1), log_sum = poisoned(1), entropy = poisoned(1),
                                        log_prob = poisoned(2);
  logits[17] = 1e4f;
  std::vector<std::int32_t> row = {0, 0}, target = {17, 3};
  std::vector<float> d = {1, 1};
  const Stream stream(1, Stream::Waiting::sleep);
  ops::softmax_statistics(stream, view_of(maximum, {1}), view_of(log_sum, {1}), view_of(entropy, {1}),
                          view_of(logits, {1, 50}), 1);
  ops::gather_log_prob(stream, view_of(log_prob, {2}), view_of(logits, {1, 50}), view_of(maximum, {1}),
                       view_of(log_sum, {1}), view_of(row, {2}), view_of(target, {2}), 1);
  ops::log_prob_backward(stream, view_of(logits, {1, 50}), view_of(maximum, {1}), view_of(log_sum, {1}),
                         view_of(entropy, {1}), view_of(row, {2}), view_of(target, {2}), view_of(d, {2}),
                         view_of(d, {2}), 1);
  EXPECT_EQ(entropy[0], 0.0f);
  EXPECT_EQ(log_prob, (std::vector<float>{0, -2e4f}));
  EXPECT_EQ(logits[17], -1.0f);
  EXPECT_EQ(logits[3], 1.0f);
  EXPECT_EQ(logits[4], 0.0f);
}

}  // namespace
}  // namespace maxplus
