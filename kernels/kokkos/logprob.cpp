// Log-probabilities on the host: rows of logits are cut over the team.
#include "ops/logprob.hpp"

#include <algorithm>

#include "kokkos/kernel_table.hpp"
#include "kokkos/region.hpp"
#include "kokkos/simd/logprob_table.hpp"
#include "kokkos/team.hpp"
#include "ops/checks.hpp"

namespace maxplus::ops {

namespace {

void check_targets(const char* what, TensorView row, TensorView target, std::int64_t rows, std::int64_t vocabulary) {
  const std::int64_t count = row.extent(0);
  check_view(what, row, DType::i32, {count});
  check_view(what, target, DType::i32, {count});
  const std::int32_t* const r = row.as<std::int32_t>();
  const std::int32_t* const j = target.as<std::int32_t>();
  for (std::int64_t n = 0; n < count; ++n) {
    MAXPLUS_REQUIRE(
        r[n] >= 0 && r[n] < rows && j[n] >= 0 && j[n] < vocabulary,
        fmt::format("{}: entry {} is (row {}, target {}) of logits [{}, {}]", what, n, r[n], j[n], rows, vocabulary));
  }
}

}  // namespace

void softmax_statistics(const Stream& stream, TensorView row_maximum, TensorView row_log_sum, TensorView entropy,
                        TensorView logits, float inverse_temperature) {
  const host::Region region("maxplus.softmax_statistics");
  const std::int64_t rows = logits.extent(0), vocabulary = logits.extent(1);
  check_view("softmax_statistics logits", logits, DType::f32, {rows, vocabulary});
  check_view("softmax_statistics row_maximum", row_maximum, DType::f32, {rows});
  check_view("softmax_statistics row_log_sum", row_log_sum, DType::f32, {rows});
  check_view("softmax_statistics entropy", entropy, DType::f32, {rows});
  MAXPLUS_REQUIRE(inverse_temperature > 0, fmt::format("inverse temperature {}", inverse_temperature));
  const host::LogProbTable& table = MAXPLUS_TABLE(logprob_table);
  float* const m = row_maximum.as<float>();
  float* const s = row_log_sum.as<float>();
  float* const h = entropy.as<float>();
  const float* const x = logits.as<float>();
  host::for_each_part_taken(stream, rows, [&](std::int64_t r) {
    table.statistics(m + r, s + r, h + r, x + r * vocabulary, vocabulary, inverse_temperature);
  });
}

void gather_log_prob(const Stream&, TensorView log_prob, TensorView logits, TensorView row_maximum,
                     TensorView row_log_sum, TensorView row, TensorView target, float inverse_temperature) {
  const host::Region region("maxplus.gather_log_prob");
  const std::int64_t rows = logits.extent(0), vocabulary = logits.extent(1), count = row.extent(0);
  check_view("gather_log_prob logits", logits, DType::f32, {rows, vocabulary});
  check_view("gather_log_prob log_prob", log_prob, DType::f32, {count});
  check_view("gather_log_prob row_maximum", row_maximum, DType::f32, {rows});
  check_view("gather_log_prob row_log_sum", row_log_sum, DType::f32, {rows});
  check_targets("gather_log_prob", row, target, rows, vocabulary);
  float* const out = log_prob.as<float>();
  const float* const x = logits.as<float>();
  const float* const m = row_maximum.as<float>();
  const float* const s = row_log_sum.as<float>();
  const std::int32_t* const r = row.as<std::int32_t>();
  const std::int32_t* const j = target.as<std::int32_t>();
  for (std::int64_t n = 0; n < count; ++n) {
    const float z = x[r[n] * vocabulary + j[n]] * inverse_temperature;
    out[n] = (z - m[r[n]]) - s[r[n]];
  }
}

void log_prob_backward(const Stream& stream, TensorView logits, TensorView row_maximum, TensorView row_log_sum,
                       TensorView entropy, TensorView row, TensorView target, TensorView d_log_prob,
                       TensorView d_entropy, float inverse_temperature) {
  const host::Region region("maxplus.log_prob_backward");
  const std::int64_t rows = logits.extent(0), vocabulary = logits.extent(1), count = row.extent(0);
  check_view("log_prob_backward logits", logits, DType::f32, {rows, vocabulary});
  check_view("log_prob_backward row_maximum", row_maximum, DType::f32, {rows});
  check_view("log_prob_backward row_log_sum", row_log_sum, DType::f32, {rows});
  check_view("log_prob_backward entropy", entropy, DType::f32, {rows});
  check_view("log_prob_backward d_log_prob", d_log_prob, DType::f32, {count});
  check_view("log_prob_backward d_entropy", d_entropy, DType::f32, {count});
  check_targets("log_prob_backward", row, target, rows, vocabulary);
  const std::int32_t* const of_row = row.as<std::int32_t>();
  const std::int32_t* const j = target.as<std::int32_t>();
  MAXPLUS_REQUIRE(std::is_sorted(of_row, of_row + count), "rows of targets ascend");
  const host::LogProbTable& table = MAXPLUS_TABLE(logprob_table);
  float* const x = logits.as<float>();
  const float* const m = row_maximum.as<float>();
  const float* const s = row_log_sum.as<float>();
  const float* const h = entropy.as<float>();
  const float* const d_p = d_log_prob.as<float>();
  const float* const d_h = d_entropy.as<float>();
  host::for_each_part_taken(stream, rows, [&](std::int64_t r) {
    float* const logit = x + r * vocabulary;
    const auto range = std::equal_range(of_row, of_row + count, static_cast<std::int32_t>(r));
    const std::int64_t first = range.first - of_row, last = range.second - of_row;
    if (first == last) {
      std::fill_n(logit, vocabulary, 0.0f);
      return;
    }
    float sum_p = 0, sum_h = 0;
    for (std::int64_t n = first; n < last; ++n) {
      sum_p += d_p[n];
      sum_h += d_h[n];
    }
    table.backward(logit, vocabulary, m[r], s[r], h[r], sum_p, sum_h, inverse_temperature);
    for (std::int64_t n = first; n < last; ++n) logit[j[n]] += d_p[n] * inverse_temperature;
  });
}

}  // namespace maxplus::ops
