// Norms of query and key heads against the plain double loops of RMS norm on the gathered heads, and themselves under
// other teams.
#include <gtest/gtest.h>

#include "kernels/every_set.hpp"
#include "kernels/host_tensors.hpp"
#include "ops/norm.hpp"
#include "reference/norm.hpp"

namespace maxplus {
namespace {

using test::poisoned;
using test::seeded;
using test::view_of;

constexpr double kTolerance = 2e-6;     // a dozen roundings of 6e-8 on values of order 1
constexpr double kSumTolerance = 2e-5;  // chains over tokens and heads
constexpr float kEpsilon = 1e-6f;

struct Shape {
  std::int64_t tokens, heads, kv_heads, width;
  std::int64_t row() const { return (heads + 2 * kv_heads) * width; }
  std::int64_t turned() const { return heads + kv_heads; }
};

struct Result {
  std::vector<float> out, raw, inverse_rms, d_qkv, d_query_weight, d_key_weight;
};

Result run(int threads, const Shape& s) {
  const Stream stream(threads, Stream::Waiting::sleep);
  std::vector<float> query_weight = seeded(s.width, 2, 2), key_weight = seeded(s.width, 3, 2);
  Result r{seeded(s.tokens * s.row(), 1, 1),
           poisoned(s.tokens * s.turned() * s.width),
           poisoned(s.tokens * s.turned()),
           seeded(s.tokens * s.row(), 4, 1),
           seeded(s.width, 5, 1),
           seeded(s.width, 6, 1)};
  const TensorView raw = view_of(r.raw, {s.tokens, s.turned() * s.width}),
                   rms = view_of(r.inverse_rms, {s.tokens, s.turned()});
  ops::head_norm(stream, view_of(r.out, {s.tokens, s.row()}), raw, rms, view_of(query_weight, {s.width}),
                 view_of(key_weight, {s.width}), s.heads, s.kv_heads, s.width, kEpsilon);
  ops::head_norm_backward(stream, view_of(r.d_qkv, {s.tokens, s.row()}), view_of(r.d_query_weight, {s.width}),
                          view_of(r.d_key_weight, {s.width}), raw, rms, view_of(query_weight, {s.width}),
                          view_of(key_weight, {s.width}), s.heads, s.kv_heads, s.width);
  return r;
}

// The heads [first, first + count) of all tokens as rows.
std::vector<double> heads_of(const std::vector<float>& rows, const Shape& s, std::int64_t first, std::int64_t count) {
  std::vector<double> heads;
  for (std::int64_t t = 0; t < s.tokens; ++t) {
    for (std::int64_t i = first * s.width; i < (first + count) * s.width; ++i)
      heads.push_back(rows[static_cast<std::size_t>(t * s.row() + i)]);
  }
  return heads;
}

std::vector<float> to_float(const std::vector<double>& values) { return {values.begin(), values.end()}; }

TEST(HeadNorm, AgreesWithTheDoubleLoopsAndLeavesValues) {
  for (const Shape& s :
       {Shape{0, 2, 1, 6}, Shape{1, 1, 1, 2}, Shape{7, 6, 3, 10}, Shape{13, 4, 2, 64}, Shape{5, 3, 1, 18}}) {
    const Result r = run(2, s);
    const std::vector<float> in = seeded(s.tokens * s.row(), 1, 1), d_out = seeded(s.tokens * s.row(), 4, 1);
    for (const bool keys : {false, true}) {
      const std::int64_t first = keys ? s.heads : 0, count = keys ? s.kv_heads : s.heads;
      const std::vector<double> weight = test::to_double(seeded(s.width, keys ? 3 : 2, 2)),
                                x = heads_of(in, s, first, count);
      const auto forward = reference::rms_norm(x, weight, kEpsilon);
      EXPECT_LE(test::largest_error(to_float(heads_of(r.out, s, first, count)), forward.out), kTolerance);
      auto back = reference::rms_norm_backward(heads_of(d_out, s, first, count), x, forward.inverse_rms, weight);
      EXPECT_LE(test::largest_error(to_float(heads_of(r.d_qkv, s, first, count)), back.d_in), kSumTolerance);
      const std::vector<float> before = seeded(s.width, keys ? 6 : 5, 1);
      for (std::size_t c = 0; c < before.size(); ++c) back.d_weight[c] += before[c];
      EXPECT_LE(test::largest_error(keys ? r.d_key_weight : r.d_query_weight, back.d_weight), kSumTolerance);
    }
    EXPECT_EQ(heads_of(r.out, s, s.turned(), s.kv_heads), heads_of(in, s, s.turned(), s.kv_heads));
    EXPECT_EQ(heads_of(r.d_qkv, s, s.turned(), s.kv_heads), heads_of(d_out, s, s.turned(), s.kv_heads));
  }
}

TEST(HeadNorm, GivesTheSameBitsWithAnyInstructionSetOnAnyTeam) {
  const Shape shape{11, 6, 3, 34};
  const Result one = run(1, shape);
  test::with_every_set_and_team([&](int threads) {
    const Result other = run(threads, shape);
    EXPECT_TRUE(test::same_bits(one.out, other.out));
    EXPECT_TRUE(test::same_bits(one.raw, other.raw));
    EXPECT_TRUE(test::same_bits(one.d_qkv, other.d_qkv));
    EXPECT_TRUE(test::same_bits(one.d_query_weight, other.d_query_weight));
    EXPECT_TRUE(test::same_bits(one.d_key_weight, other.d_key_weight));
  });
}

}  // namespace
}  // namespace maxplus
