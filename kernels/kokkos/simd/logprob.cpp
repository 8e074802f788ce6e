// Log-probabilities of one row, tokens of the vocabulary in lanes. Lanes behind the last token count as exp = 0.
#include "kokkos/simd/logprob_table.hpp"

#include "kokkos/simd/lanes.hpp"

namespace maxplus::host::MAXPLUS_SIMD {

namespace {

int lanes_left(std::int64_t extent, std::int64_t at) {
  return extent - at < kLanes ? static_cast<int>(extent - at) : kLanes;
}

// inverse_temperature is positive, and rounding is monotonic: the largest z belongs to the largest logit.
float largest_z(const float* logits, std::int64_t vocabulary, float inverse_temperature) {
  const float lowest = from_bits1(0xff800000u);
  Lanes largest = broadcast(lowest);
  for (std::int64_t j = 0; j < vocabulary; j += kLanes) {
    largest = max(load_masked(logits + j, lanes_left(vocabulary, j), lowest), largest);
  }
  return max_lane(largest) * inverse_temperature;
}

void statistics(float* maximum, float* log_sum, float* entropy, const float* logits, std::int64_t vocabulary,
                float inverse_temperature) {
  const float m = largest_z(logits, vocabulary, inverse_temperature);
  const Lanes scale = broadcast(inverse_temperature), zero = broadcast(0.0f);
  Lanes sums = zero, weighted = zero;
  for (std::int64_t j = 0; j < vocabulary; j += kLanes) {
    const int count = lanes_left(vocabulary, j);
    const Lanes z = load_masked(logits + j, count, 0.0f) * scale - broadcast(m);
    const Lanes e = count == kLanes ? exp(z) : select(count, exp(z), zero);
    sums = sums + e;
    weighted = fma(e, count == kLanes ? z : select(count, z, zero), weighted);
  }
  const float s = sum(sums), lse = log1_(s);
  *maximum = m;
  *log_sum = lse;
  *entropy = lse - sum(weighted) / s;
}

void backward(float* logits, std::int64_t vocabulary, float maximum, float log_sum, float entropy, float d_log_prob,
              float d_entropy, float inverse_temperature) {
  const Lanes scale = broadcast(inverse_temperature), minus_scale = broadcast(-inverse_temperature);
  for (std::int64_t j = 0; j < vocabulary; j += kLanes) {
    const int count = lanes_left(vocabulary, j);
    const Lanes z = load_masked(logits + j, count, 0.0f) * scale - broadcast(maximum);
    const Lanes log_p = z - broadcast(log_sum);
    const Lanes pull = fma(broadcast(d_entropy), log_p + broadcast(entropy), broadcast(d_log_prob));
    store_masked(logits + j, exp(log_p) * pull * minus_scale, count);
  }
}

constexpr LogProbTable kTable = {statistics, backward};

}  // namespace

const LogProbTable& logprob_table() { return kTable; }

}  // namespace maxplus::host::MAXPLUS_SIMD
