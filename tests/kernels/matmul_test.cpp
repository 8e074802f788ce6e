// Matrix products against std::fma loops, bit for bit: every number of rows, odd widths, threads, instruction sets.
#include "ops/matmul.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "kokkos/bf16/bf16_table.hpp"
#include "kokkos/kernel_table.hpp"
#include "reference/matmul.hpp"
#include "reference/random_values.hpp"

namespace maxplus {
namespace {

using ops::Arithmetic;
using reference::poisoned;
using reference::random_values;

constexpr std::int64_t kWidths[] = {1, 16, 17, 48, 100};
constexpr std::int64_t kSums[] = {1, 2, 16, 63, 576};
constexpr std::int64_t kMostRows = 257;
constexpr std::int64_t kGuard = 16;  // elements behind an output, which must stay as they are

TensorView view(std::vector<float>& values, std::initializer_list<std::int64_t> extents) {
  return TensorView(values.data(), DType::f32, Space::host, extents);
}

// Memory of a packed matrix, poisoned: all bits of a word set are a NaN, and so are all bits of a bf16 number.
class PackedMatrix {
 public:
  PackedMatrix(std::int64_t outputs, std::int64_t inputs, Arithmetic arithmetic)
      : type_(ops::packed_type(arithmetic)),
        elements_(ops::packed_elements(outputs, inputs, arithmetic)),
        bytes_(static_cast<std::size_t>(elements_) * size_of(type_), 0xff) {}
  TensorView view() { return TensorView(bytes_.data(), type_, Space::host, {elements_}); }

 private:
  DType type_;
  std::int64_t elements_;
  std::vector<std::uint8_t> bytes_;
};

std::vector<std::int64_t> row_counts() {
  std::vector<std::int64_t> rows;
  for (std::int64_t m = 1; m <= 26; ++m) rows.push_back(m);
  for (const std::int64_t m : {std::int64_t{31}, std::int64_t{32}, std::int64_t{33}, std::int64_t{49}, kMostRows})
    rows.push_back(m);
  return rows;
}

bool same_bits(const float* a, const float* b, std::int64_t count) {
  return std::memcmp(a, b, static_cast<std::size_t>(count) * sizeof(float)) == 0;
}

bool untouched(const std::vector<float>& values, std::int64_t first) {
  return std::all_of(values.begin() + first, values.end(), [](float x) { return x != x; });
}

// Rows do not depend on each other, so one product of the most rows serves all numbers of them, and all threads.
const std::vector<float>& expected_product(const std::vector<float>& in, const std::vector<float>& weight,
                                           std::int64_t outputs, std::int64_t inputs, Arithmetic arithmetic) {
  static std::map<std::tuple<std::int64_t, std::int64_t, Arithmetic>, std::vector<float>> known;
  std::vector<float>& product = known[{outputs, inputs, arithmetic}];
  if (product.empty()) product = reference::product(in, weight, kMostRows, outputs, inputs, arithmetic);
  return product;
}

// Runs the rest of the scope with each instruction set that this processor has, and with the emulation of the bf16
// instructions; as many as have a body of their own for the arithmetic.
template <class F>
void for_each_body(Arithmetic arithmetic, F f) {
  const host::InstructionSet before = host::instruction_set_in_use();
  for (int set = 0; set <= static_cast<int>(host::best_instruction_set()); ++set) {
    const auto named = static_cast<host::InstructionSet>(set);
    if (arithmetic == Arithmetic::bf16_tiles && named != host::InstructionSet::amx) continue;
    SCOPED_TRACE(testing::Message() << "instruction set " << host::name_of(named));
    host::use_instruction_set(named);
    f();
  }
  host::use_instruction_set(before);
  if (arithmetic == Arithmetic::f32) return;
  SCOPED_TRACE("emulated instructions");
  host::use_bf16_bodies(host::Bf16Bodies::emulated);
  f();
  host::use_bf16_bodies(host::Bf16Bodies::native);
}

class Matmul : public testing::TestWithParam<std::tuple<int, Arithmetic>> {
 protected:
  int threads() const { return std::get<0>(GetParam()); }
  Arithmetic arithmetic() const { return std::get<1>(GetParam()); }
  Stream stream_{std::get<0>(GetParam()), Stream::Waiting::sleep};
};

TEST_P(Matmul, GivesTheBitsOfTheChainForEveryNumberOfRows) {
  for (const std::int64_t outputs : kWidths) {
    for (const std::int64_t inputs : kSums) {
      SCOPED_TRACE(testing::Message() << "outputs " << outputs << " inputs " << inputs);
      std::vector<float> in = random_values(kMostRows * inputs, 1), weight = random_values(outputs * inputs, 2);
      const std::vector<float>& expected = expected_product(in, weight, outputs, inputs, arithmetic());
      for_each_body(arithmetic(), [&] {
        PackedMatrix packed(outputs, inputs, arithmetic());
        const TensorView packed_view = packed.view();
        ops::pack_weight(stream_, packed_view, view(weight, {outputs, inputs}), arithmetic());
        for (const std::int64_t rows : row_counts()) {
          std::vector<float> out = poisoned(rows * outputs + kGuard);
          ops::matmul(stream_, view(out, {rows, outputs}), view(in, {rows, inputs}), packed_view, outputs,
                      arithmetic());
          ASSERT_TRUE(same_bits(out.data(), expected.data(), rows * outputs)) << rows << " rows";
          ASSERT_TRUE(untouched(out, rows * outputs)) << rows << " rows";
        }
      });
    }
  }
}

TEST_P(Matmul, AddsTheResidualAfterTheChainAlsoInPlace) {
  constexpr std::int64_t kOutputs = 83, kInputs = 700;
  std::vector<float> in = random_values(kMostRows * kInputs, 3), weight = random_values(kOutputs * kInputs, 4);
  std::vector<float> residual = random_values(kMostRows * kOutputs, 5);
  std::vector<float> expected = reference::product(in, weight, kMostRows, kOutputs, kInputs, arithmetic());
  for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = residual[i] + expected[i];
  for_each_body(arithmetic(), [&] {
    PackedMatrix packed(kOutputs, kInputs, arithmetic());
    const TensorView packed_view = packed.view();
    ops::pack_weight(stream_, packed_view, view(weight, {kOutputs, kInputs}), arithmetic());
    for (const std::int64_t rows : {1, 3, 7, 24, 25, 257}) {
      std::vector<float> out = poisoned(rows * kOutputs + kGuard);
      ops::matmul_add_residual(stream_, view(out, {rows, kOutputs}), view(residual, {rows, kOutputs}),
                               view(in, {rows, kInputs}), packed_view, kOutputs, arithmetic());
      EXPECT_TRUE(same_bits(out.data(), expected.data(), rows * kOutputs)) << rows << " rows";
      EXPECT_TRUE(untouched(out, rows * kOutputs));
      std::vector<float> in_place(residual.begin(), residual.begin() + rows * kOutputs);
      const TensorView both = view(in_place, {rows, kOutputs});
      ops::matmul_add_residual(stream_, both, both, view(in, {rows, kInputs}), packed_view, kOutputs, arithmetic());
      EXPECT_TRUE(same_bits(in_place.data(), expected.data(), rows * kOutputs)) << rows << " rows in place";
    }
  });
}

TEST_P(Matmul, BackwardToTheInputGivesTheBitsOfTheChainOverOutputs) {
  constexpr std::int64_t kWeightRows = 645, kWeightColumns = 51;
  std::vector<float> d_out = random_values(kMostRows * kWeightRows, 6),
                     weight = random_values(kWeightRows * kWeightColumns, 7);
  std::vector<float> transposed(weight.size());
  for (std::int64_t n = 0; n < kWeightRows; ++n) {
    for (std::int64_t k = 0; k < kWeightColumns; ++k) transposed[k * kWeightRows + n] = weight[n * kWeightColumns + k];
  }
  const std::vector<float> expected =
      reference::product(d_out, transposed, kMostRows, kWeightColumns, kWeightRows, arithmetic());
  for_each_body(arithmetic(), [&] {
    PackedMatrix packed(kWeightColumns, kWeightRows, arithmetic());
    const TensorView packed_view = packed.view();
    ops::pack_weight_transposed(stream_, packed_view, view(weight, {kWeightRows, kWeightColumns}), arithmetic());
    for (const std::int64_t rows : {1, 5, 31, 257}) {
      std::vector<float> out = poisoned(rows * kWeightColumns);
      ops::matmul(stream_, view(out, {rows, kWeightColumns}), view(d_out, {rows, kWeightRows}), packed_view,
                  kWeightColumns, arithmetic());
      EXPECT_TRUE(same_bits(out.data(), expected.data(), rows * kWeightColumns)) << rows << " rows";
    }
  });
}

TEST_P(Matmul, WeightGradientGoesOnFromWhatIsThere) {
  constexpr std::int64_t kSizes[][3] = {{1, 1, 1}, {5, 17, 33}, {64, 16, 48}, {701, 53, 35}};
  for (const auto& [tokens, outputs, inputs] : kSizes) {
    SCOPED_TRACE(testing::Message() << tokens << " tokens, " << outputs << " x " << inputs);
    std::vector<float> d_out = random_values(tokens * outputs, 8), in = random_values(tokens * inputs, 9);
    const std::vector<float> start = random_values(outputs * inputs, 10);
    std::vector<float> expected = start;
    reference::weight_gradient(expected, d_out, in, tokens, outputs, inputs, arithmetic());
    for_each_body(arithmetic(), [&] {
      std::vector<float> d_weight = start;
      d_weight.resize(start.size() + kGuard, std::numeric_limits<float>::quiet_NaN());
      std::vector<float> scratch =
          poisoned(ops::weight_gradient_scratch(stream_, tokens, outputs, inputs, arithmetic()));
      ops::matmul_weight_gradient(stream_, view(d_weight, {outputs, inputs}), view(d_out, {tokens, outputs}),
                                  view(in, {tokens, inputs}),
                                  view(scratch, {static_cast<std::int64_t>(scratch.size())}), arithmetic());
      EXPECT_TRUE(same_bits(d_weight.data(), expected.data(), outputs * inputs));
      EXPECT_TRUE(untouched(d_weight, outputs * inputs));
    });
  }
}

TEST_P(Matmul, WeightGradientOfTwoCallsIsThatOfOne) {
  // A cut at 32, since bf16 takes tokens in pairs or groups of 32 within a call.
  constexpr std::int64_t kTokens = 401, kCut = 160, kOutputs = 37, kInputs = 41;
  std::vector<float> d_out = random_values(kTokens * kOutputs, 11), in = random_values(kTokens * kInputs, 12);
  std::vector<float> once(kOutputs * kInputs, 0.0f), twice(kOutputs * kInputs, 0.0f);
  std::vector<float> scratch =
      poisoned(ops::weight_gradient_scratch(stream_, kTokens, kOutputs, kInputs, arithmetic()));
  const TensorView scratch_view = view(scratch, {static_cast<std::int64_t>(scratch.size())});
  const TensorView all_d_out = view(d_out, {kTokens, kOutputs}), all_in = view(in, {kTokens, kInputs});
  ops::matmul_weight_gradient(stream_, view(once, {kOutputs, kInputs}), all_d_out, all_in, scratch_view, arithmetic());
  for (const auto& [first, count] : {std::pair<std::int64_t, std::int64_t>{0, kCut}, {kCut, kTokens - kCut}}) {
    ops::matmul_weight_gradient(stream_, view(twice, {kOutputs, kInputs}), all_d_out.rows(first, count),
                                all_in.rows(first, count), scratch_view, arithmetic());
  }
  EXPECT_TRUE(same_bits(once.data(), twice.data(), kOutputs * kInputs));
}

TEST_P(Matmul, EmptyExtentsDoNothing) {
  std::vector<float> none, weight = random_values(3 * 4, 13);
  PackedMatrix packed(3, 4, arithmetic()), nothing(3, 0, arithmetic());
  ops::pack_weight(stream_, packed.view(), view(weight, {3, 4}), arithmetic());
  ops::matmul(stream_, view(none, {0, 3}), view(none, {0, 4}), packed.view(), 3, arithmetic());
  std::vector<float> d_weight = weight;
  ops::matmul_weight_gradient(stream_, view(d_weight, {3, 4}), view(none, {0, 3}), view(none, {0, 4}), view(none, {0}),
                              arithmetic());
  EXPECT_EQ(d_weight, weight);
  std::vector<float> out = poisoned(6);
  ops::matmul(stream_, view(out, {2, 3}), view(none, {2, 0}), nothing.view(), 3, arithmetic());
  EXPECT_EQ(out, std::vector<float>(6, 0.0f));  // the chain of no terms
}

INSTANTIATE_TEST_SUITE_P(OnThreads, Matmul,
                         testing::Combine(testing::Values(1, 2, 3),
                                          testing::Values(Arithmetic::f32, Arithmetic::bf16_dot,
                                                          Arithmetic::bf16_tiles)),
                         [](const auto& instance) {
                           return std::to_string(std::get<0>(instance.param)) + "_" +
                                  std::string(ops::name_of(std::get<1>(instance.param)));
                         });

// A sum longer than the pieces of few rows, and a panel that stays in no cache.
TEST(MatmulLongSum, GivesTheBitsOfTheChain) {
  constexpr std::int64_t kOutputs = 20, kInputs = 3001;
  Stream stream(2, Stream::Waiting::spin_briefly);
  std::vector<float> in = random_values(40 * kInputs, 14), weight = random_values(kOutputs * kInputs, 15);
  const std::vector<float> expected = reference::product(in, weight, 40, kOutputs, kInputs, Arithmetic::f32);
  PackedMatrix packed(kOutputs, kInputs, Arithmetic::f32);
  const TensorView packed_view = packed.view();
  ops::pack_weight(stream, packed_view, view(weight, {kOutputs, kInputs}), Arithmetic::f32);
  for (const std::int64_t rows : {1, 2, 8, 13, 24, 40}) {
    std::vector<float> out = poisoned(rows * kOutputs);
    ops::matmul(stream, view(out, {rows, kOutputs}), view(in, {rows, kInputs}), packed_view, kOutputs, Arithmetic::f32);
    EXPECT_TRUE(same_bits(out.data(), expected.data(), rows * kOutputs)) << rows << " rows";
  }
}

TEST(MatmulChecks, RefuseAPackedMatrixThatIsTooSmall) {
  Stream stream(1, Stream::Waiting::sleep);
  std::vector<float> out(4), in(6), packed(47);
  EXPECT_THROW(ops::matmul(stream, view(out, {2, 2}), view(in, {2, 3}), view(packed, {47}), 2, Arithmetic::f32), Error);
}

}  // namespace
}  // namespace maxplus
