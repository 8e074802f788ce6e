// Exponentials of a row of logits and their sums, tokens of the vocabulary in lanes.
#include "kokkos/simd/sampling_table.hpp"

#include "kokkos/simd/lanes.hpp"

namespace maxplus::host::MAXPLUS_SIMD {

namespace {

int lanes_left(std::int64_t extent, std::int64_t at) {
  return extent - at < kLanes ? static_cast<int>(extent - at) : kLanes;
}

MAXPLUS_LANE Lanes exponential(const float* logits, int count, float maximum, float inverse_temperature) {
  const Lanes e = exp(load_masked(logits, count, 0.0f) * broadcast(inverse_temperature) - broadcast(maximum));
  return count == kLanes ? e : select(count, e, broadcast(0.0f));
}

float block_sums(float* block_sum, const float* logits, std::int64_t vocabulary, float maximum,
                 float inverse_temperature) {
  Lanes all = broadcast(0.0f);
  for (std::int64_t begin = 0; begin < vocabulary; begin += kSamplingBlock) {
    const std::int64_t end = begin + kSamplingBlock < vocabulary ? begin + kSamplingBlock : vocabulary;
    Lanes block = broadcast(0.0f);
    for (std::int64_t j = begin; j < end; j += kLanes) {
      const Lanes e = exponential(logits + j, lanes_left(end, j), maximum, inverse_temperature);
      block = block + e;
      all = all + e;
    }
    block_sum[begin / kSamplingBlock] = sum(block);
  }
  return sum(all);
}

void exponentials(float* out, const float* logits, std::int64_t count, float maximum, float inverse_temperature) {
  for (std::int64_t j = 0; j < count; j += kLanes) {
    const int left = lanes_left(count, j);
    store_masked(out + j, exponential(logits + j, left, maximum, inverse_temperature), left);
  }
}

std::int64_t argmax(const float* logits, std::int64_t vocabulary) {
  const float lowest = from_bits1(0xff800000u);
  Lanes largest = broadcast(lowest);
  for (std::int64_t j = 0; j < vocabulary; j += kLanes) {
    largest = max(load_masked(logits + j, lanes_left(vocabulary, j), lowest), largest);
  }
  const float value = max_lane(largest);
  std::int64_t j = 0;
  while (j + 1 < vocabulary && logits[j] != value) ++j;
  return j;
}

float log_of(float x) { return log1_(x); }

constexpr SamplingTable kTable = {block_sums, exponentials, argmax, log_of};

}  // namespace

const SamplingTable& sampling_table() { return kTable; }

}  // namespace maxplus::host::MAXPLUS_SIMD
