// Drawing tokens on the host: rows are cut over the team.
//
// Without top_k and top_p a row costs one pass over exponentials and one block of 256. With them the kept set is found
// exactly: tokens in the order (logit descending, index ascending) are selected and sorted in growing pieces, so a set of
// a hundred tokens does not pay for sorting a vocabulary. Sums over the kept set are in double, in that order, and the
// token is the first one whose running sum exceeds uniform times their total. top_k is applied first.
#include "ops/sampling.hpp"

#include <algorithm>
#include <numeric>

#include "kokkos/kernel_table.hpp"
#include "kokkos/region.hpp"
#include "kokkos/simd/sampling_table.hpp"
#include "kokkos/team.hpp"
#include "ops/checks.hpp"

namespace maxplus::ops {

namespace {

using host::kSamplingBlock;

std::int64_t block_count(std::int64_t vocabulary) { return (vocabulary + kSamplingBlock - 1) / kSamplingBlock; }

// Per thread: exponentials [V], candidates [V] (i32), block sums.
std::int64_t scratch_of_thread(std::int64_t vocabulary) { return 2 * vocabulary + block_count(vocabulary) + kSamplingBlock; }

struct Row {
  const host::SamplingTable& table;
  const float* logits;
  std::int64_t vocabulary;
  float maximum, log_sum, uniform;
  const SamplingRule& rule;
  float* exponential;       // [V], at least one block
  std::int32_t* candidate;  // [V]
  float* block_sum;
};

struct Drawn {
  std::int64_t token;
  float log_sum;
};

// Rounding may leave every running sum at or below the goal; then the last token of positive probability is drawn.
Drawn draw_from_all(const Row& row) {
  const float total = row.table.block_sums(row.block_sum, row.logits, row.vocabulary, row.maximum, row.rule.inverse_temperature);
  const float goal = row.uniform * total;
  float running = 0, before = 0;
  std::int64_t block = 0;
  for (std::int64_t b = 0; b < block_count(row.vocabulary); ++b) {
    if (row.block_sum[b] > 0) {
      block = b;
      before = running;
    }
    running += row.block_sum[b];
    if (running > goal) break;
  }
  const std::int64_t begin = block * kSamplingBlock, count = std::min(kSamplingBlock, row.vocabulary - begin);
  row.table.exponentials(row.exponential, row.logits + begin, count, row.maximum, row.rule.inverse_temperature);
  std::int64_t last = 0;
  running = before;
  for (std::int64_t j = 0; j < count; ++j) {
    if (row.exponential[j] > 0) last = j;
    running += row.exponential[j];
    if (running > goal) break;
  }
  return {begin + last, row.log_sum};
}

// Sorts candidates [from, to) of the order; everything before `from` already stands.
void settle(const Row& row, std::int64_t from, std::int64_t to) {
  const float* const logits = row.logits;
  const auto before = [logits](std::int32_t a, std::int32_t b) {
    return logits[a] != logits[b] ? logits[a] > logits[b] : a < b;
  };
  std::int32_t* const end = row.candidate + row.vocabulary;
  if (row.candidate + to < end) std::nth_element(row.candidate + from, row.candidate + to, end, before);
  std::sort(row.candidate + from, row.candidate + to, before);
}

struct Kept {
  std::int64_t count;
  double total;
};

Kept keep_top_k(const Row& row, std::int64_t k) {
  settle(row, 0, k);
  Kept kept{k, 0};
  for (std::int64_t i = 0; i < k; ++i) kept.total += static_cast<double>(row.exponential[row.candidate[i]]);
  return kept;
}

// The smallest leading piece, of at most `within` tokens of which `settled` stand in order, whose sum reaches `goal`.
Kept keep_top_p(const Row& row, std::int64_t within, std::int64_t settled, double goal) {
  constexpr std::int64_t kFirstPiece = 256, kGrowth = 4;
  Kept kept{0, 0};
  while (kept.count < within && (kept.count == 0 || kept.total < goal)) {
    if (kept.count == settled) {
      const std::int64_t next = std::min(within, std::max(kFirstPiece, settled * kGrowth));
      settle(row, settled, next);
      settled = next;
    }
    kept.total += static_cast<double>(row.exponential[row.candidate[kept.count++]]);
  }
  return kept;
}

Drawn draw_from_kept(const Row& row) {
  const float total = row.table.block_sums(row.block_sum, row.logits, row.vocabulary, row.maximum, row.rule.inverse_temperature);
  row.table.exponentials(row.exponential, row.logits, row.vocabulary, row.maximum, row.rule.inverse_temperature);
  std::iota(row.candidate, row.candidate + row.vocabulary, 0);
  Kept kept{row.vocabulary, static_cast<double>(total)};
  std::int64_t settled = 0;
  if (row.rule.top_k > 0 && row.rule.top_k < row.vocabulary) {
    kept = keep_top_k(row, row.rule.top_k);
    settled = kept.count;
  }
  if (row.rule.top_p < 1) kept = keep_top_p(row, kept.count, settled, static_cast<double>(row.rule.top_p) * kept.total);
  const double goal = static_cast<double>(row.uniform) * kept.total;
  double running = 0;
  std::int64_t last = 0;
  for (std::int64_t i = 0; i < kept.count; ++i) {
    const float e = row.exponential[row.candidate[i]];
    if (e > 0) last = i;
    running += static_cast<double>(e);
    if (running > goal) break;
  }
  return {row.candidate[last], row.table.log(static_cast<float>(kept.total))};
}

Drawn draw(const Row& row) {
  if (row.rule.greedy) return {row.table.argmax(row.logits, row.vocabulary), row.log_sum};
  const bool everything = (row.rule.top_k <= 0 || row.rule.top_k >= row.vocabulary) && row.rule.top_p >= 1;
  return everything ? draw_from_all(row) : draw_from_kept(row);
}

}  // namespace

std::int64_t sampling_scratch(const Stream& stream, std::int64_t vocabulary) {
  return stream.threads() * scratch_of_thread(vocabulary);
}

void sample(const Stream& stream, TensorView token, TensorView log_prob, TensorView logits, TensorView row_maximum,
            TensorView row_log_sum, TensorView uniform, TensorView scratch, const SamplingRule& rule) {
  const host::Region region("maxplus.sample");
  const std::int64_t rows = logits.extent(0), vocabulary = logits.extent(1);
  check_view("sample logits", logits, DType::f32, {rows, vocabulary});
  check_view("sample token", token, DType::i32, {rows});
  check_view("sample log_prob", log_prob, DType::f32, {rows});
  check_view("sample row_maximum", row_maximum, DType::f32, {rows});
  check_view("sample row_log_sum", row_log_sum, DType::f32, {rows});
  check_view("sample uniform", uniform, DType::f32, {rows});
  check_size("sample scratch", scratch, DType::f32, sampling_scratch(stream, vocabulary));
  MAXPLUS_REQUIRE(rows == 0 || vocabulary > 0, "a row of logits without tokens");
  const host::SamplingTable& table = MAXPLUS_TABLE(sampling_table);
  std::int32_t* const drawn_token = token.as<std::int32_t>();
  float* const drawn_log_prob = log_prob.as<float>();
  const float* const x = logits.as<float>();
  const float* const m = row_maximum.as<float>();
  const float* const s = row_log_sum.as<float>();
  const float* const u = uniform.as<float>();
  float* const memory = scratch.as<float>();
  host::for_each_range(stream, rows, [&](std::int64_t first, std::int64_t last, int thread) {
    float* const exponential = memory + thread * scratch_of_thread(vocabulary);
    float* const candidate = exponential + vocabulary + kSamplingBlock;
    for (std::int64_t r = first; r < last; ++r) {
      const float* const logit = x + r * vocabulary;
      const Drawn drawn = draw({table, logit, vocabulary, m[r], s[r], u[r], rule, exponential,
                                reinterpret_cast<std::int32_t*>(candidate), candidate + vocabulary});
      drawn_token[r] = static_cast<std::int32_t>(drawn.token);
      drawn_log_prob[r] = (logit[drawn.token] * rule.inverse_temperature - m[r]) - drawn.log_sum;
    }
  });
}

}  // namespace maxplus::ops
