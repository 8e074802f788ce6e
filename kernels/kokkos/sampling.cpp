// Drawing tokens on the host: rows are cut over the team.
//
// Without top_k and top_p a row costs one pass over exponentials and one block of 256. With them the kept set is found
// exactly: tokens in the order (logit descending, index ascending) are collected and sorted in growing pieces, so a set
// of a hundred tokens does not pay for sorting a vocabulary. Sums over the kept set are in double, in that order, and
// the token is the first one whose running sum exceeds uniform times their total. top_k is applied first.
#include "ops/sampling.hpp"

#include <algorithm>
#include <limits>

#include "kokkos/kernel_table.hpp"
#include "kokkos/region.hpp"
#include "kokkos/simd/sampling_table.hpp"
#include "kokkos/team.hpp"
#include "ops/checks.hpp"

namespace maxplus::ops {

namespace {

using host::kSamplingBlock;

std::int64_t block_count(std::int64_t vocabulary) { return (vocabulary + kSamplingBlock - 1) / kSamplingBlock; }

// Per thread: exponentials [V], candidates [V + 1] (i32; one more than there can be is written, not kept), block sums.
std::int64_t scratch_of_thread(std::int64_t vocabulary) { return 2 * vocabulary + 1 + block_count(vocabulary); }

struct Row {
  const host::SamplingTable& table;
  const float* logits;
  std::int64_t vocabulary;
  float maximum, log_sum, uniform;
  const SamplingRule& rule;
  float* exponential;       // [V]
  std::int32_t* candidate;  // [V + 1]
  float* block_sum;
};

struct Drawn {
  std::int64_t token;
  float log_sum;
};

// Rounding may leave every running sum at or below the goal; then the last token of positive probability is drawn.
Drawn draw_from_all(const Row& row) {
  const float total =
      row.table.block_sums(row.block_sum, row.logits, row.vocabulary, row.maximum, row.rule.inverse_temperature);
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

// The tokens in the order (logit descending, index ascending), brought forward piece by piece. A piece holds the tokens
// of an interval of logits, each interval twice as long as the one before, so that the tokens that matter are found in
// a pass or two. Logits that are not numbers are never reached.
class Order {
 public:
  // At most `limit` tokens will be asked for.
  Order(const Row& row, std::int64_t limit)
      : row_(row), limit_(limit), low_(row.maximum / row.rule.inverse_temperature) {
    row.candidate[0] = 0;
  }

  std::int64_t settled() const { return settled_; }

  // Settles more tokens; false when none are left.
  bool settle_more() {
    std::int64_t found = settled_;
    while (found == settled_ && !exhausted_ && settled_ < limit_) found = collect_next_interval();
    if (found == settled_) return false;
    const std::int64_t last = std::min(found, limit_);
    const float* const logits = row_.logits;
    const auto before = [logits](std::int32_t a, std::int32_t b) {
      return logits[a] != logits[b] ? logits[a] > logits[b] : a < b;
    };
    std::int32_t* const candidate = row_.candidate;
    if (last < found) std::nth_element(candidate + settled_, candidate + last, candidate + found, before);
    std::sort(candidate + settled_, candidate + last, before);
    settled_ = last;
    return true;
  }

 private:
  static constexpr float kFirstLength = 2, kLastLength = 64;  // in units of z; exp(-126) of the maximum is nothing

  std::int64_t collect_next_interval() {
    const float high = high_;
    exhausted_ = length_ > kLastLength;
    low_ = exhausted_ ? -kInfinity : low_ - length_ / row_.rule.inverse_temperature;
    const float low = low_;
    std::int64_t found = settled_;
    for (std::int64_t j = 0; j < row_.vocabulary; ++j) {
      row_.candidate[found] = static_cast<std::int32_t>(j);
      found += static_cast<int>(row_.logits[j] < high) & static_cast<int>(row_.logits[j] >= low);
    }
    high_ = low_;
    length_ *= 2;
    return found;
  }

  static constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const Row& row_;
  std::int64_t limit_, settled_ = 0;
  float low_, high_ = kInfinity, length_ = kFirstLength;
  bool exhausted_ = false;
};

struct Kept {
  std::int64_t count;
  double total;
};

double probability_mass(const Row& row, std::int64_t position) {
  return static_cast<double>(row.exponential[row.candidate[position]]);
}

Kept keep_top_k(const Row& row, Order& order) {
  while (order.settle_more()) {
  }
  Kept kept{order.settled(), 0};
  for (std::int64_t i = 0; i < kept.count; ++i) kept.total += probability_mass(row, i);
  return kept;
}

// The smallest leading piece whose sum reaches `goal`; one token at least.
Kept keep_top_p(const Row& row, Order& order, double goal) {
  Kept kept{0, 0};
  while (kept.count == 0 || kept.total < goal) {
    if (kept.count == order.settled() && !order.settle_more()) break;
    kept.total += probability_mass(row, kept.count++);
  }
  return kept;
}

Kept keep(const Row& row) {
  const bool some = row.rule.top_k > 0 && row.rule.top_k < row.vocabulary;
  Order order(row, some ? row.rule.top_k : row.vocabulary);
  if (some) {
    const Kept kept = keep_top_k(row, order);
    return row.rule.top_p < 1 ? keep_top_p(row, order, static_cast<double>(row.rule.top_p) * kept.total) : kept;
  }
  const float total =
      row.table.block_sums(row.block_sum, row.logits, row.vocabulary, row.maximum, row.rule.inverse_temperature);
  return keep_top_p(row, order, static_cast<double>(row.rule.top_p) * static_cast<double>(total));
}

Drawn draw_from_kept(const Row& row) {
  row.table.exponentials(row.exponential, row.logits, row.vocabulary, row.maximum, row.rule.inverse_temperature);
  const Kept kept = keep(row);
  const double goal = static_cast<double>(row.uniform) * kept.total;
  double running = 0;
  std::int64_t last = 0;
  for (std::int64_t i = 0; i < kept.count; ++i) {
    if (probability_mass(row, i) > 0) last = i;
    running += probability_mass(row, i);
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
    float* const candidate = exponential + vocabulary;
    for (std::int64_t r = first; r < last; ++r) {
      const float* const logit = x + r * vocabulary;
      const Drawn drawn = draw({table, logit, vocabulary, m[r], s[r], u[r], rule, exponential,
                                reinterpret_cast<std::int32_t*>(candidate), candidate + vocabulary + 1});
      drawn_token[r] = static_cast<std::int32_t>(drawn.token);
      drawn_log_prob[r] = (logit[drawn.token] * rule.inverse_temperature - m[r]) - drawn.log_sum;
    }
  });
}

}  // namespace maxplus::ops
