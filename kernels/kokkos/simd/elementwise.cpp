// Element-wise bodies, AdamW and sums of squares. Plain loops where each element stands alone: the compiler makes
// vectors of them, and with contraction off the bits do not depend on how.

#include "kokkos/simd/elementwise_table.hpp"

#include "kokkos/simd/lanes.hpp"

namespace maxplus::host::MAXPLUS_SIMD {

namespace {

void fill(float* out, float value, std::int64_t count) {
  if (bits1(value) == 0u) {
    __builtin_memset(out, 0, static_cast<std::size_t>(count) * sizeof(float));  // past the caches where that is best
    return;
  }
  for (std::int64_t i = 0; i < count; ++i) out[i] = value;
}

void add(float* out, const float* a, const float* b, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) out[i] = a[i] + b[i];
}

void scale(float* out, const float* in, float factor, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) out[i] = in[i] * factor;
}

void to_bf16(std::uint16_t* out, const float* in, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) out[i] = static_cast<std::uint16_t>(bits1(round_bf16_1(in[i])) >> 16);
}

void from_bf16(float* out, const std::uint16_t* in, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) out[i] = from_bits1(static_cast<std::uint32_t>(in[i]) << 16);
}

std::int64_t count_not_finite(const float* values, std::int64_t count) {
  std::int64_t total = 0;
  for (std::int64_t begin = 0; begin < count;
       begin += 1 << 20) {  // 32-bit counters within, which the compiler vectorizes
    const std::int64_t end = count - begin < (1 << 20) ? count : begin + (1 << 20);
    std::uint32_t part = 0;
    for (std::int64_t i = begin; i < end; ++i) part += (bits1(values[i]) & 0x7f800000u) == 0x7f800000u ? 1u : 0u;
    total += part;
  }
  return total;
}

void adamw(float* weight, float* first_moment, float* second_moment, const float* gradient, const AdamWNumbers& n,
           std::int64_t count) {
  const Lanes scale_g = broadcast(n.gradient_scale), keep1 = broadcast(n.beta1), keep2 = broadcast(n.beta2);
  const Lanes take1 = broadcast(1.0f - n.beta1), take2 = broadcast(1.0f - n.beta2), epsilon = broadcast(n.epsilon);
  const Lanes keep_weight = broadcast(1.0f - n.learning_rate * n.weight_decay), correction2 = broadcast(n.correction2);
  const Lanes rate = broadcast(n.learning_rate / n.correction1);
  for (std::int64_t i = 0; i < count; i += kLanes) {
    const int width = count - i < kLanes ? static_cast<int>(count - i) : kLanes;
    const Lanes g = scale_g * load_masked(gradient + i, width, 0.0f);
    const Lanes m = fma(take1, g, keep1 * load_masked(first_moment + i, width, 0.0f));
    const Lanes v = fma(take2, g * g, keep2 * load_masked(second_moment + i, width, 0.0f));
    const Lanes w = keep_weight * load_masked(weight + i, width, 0.0f);
    const Lanes change = div(m, div(sqrt(v), correction2) + epsilon);
    store_masked(first_moment + i, m, width);
    store_masked(second_moment + i, v, width);
    store_masked(weight + i, w - rate * change, width);
  }
}

// By lanes, in double: lane l takes elements l, l + 16, ...; then the fixed tree.
double sum_of_squares(const float* values, std::int64_t count) {
  double lane[kLanes] = {};
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int l = 0; l < kLanes; ++l) {
      const double x = static_cast<double>(values[i + l]);
      lane[l] += x * x;
    }
  }
  for (int l = 0; i + l < count; ++l) {
    const double x = static_cast<double>(values[i + l]);
    lane[l] += x * x;
  }
  for (int half = kLanes / 2; half > 0; half /= 2) {
    for (int l = 0; l < half; ++l) lane[l] += lane[l + half];
  }
  return lane[0];
}

constexpr ElementwiseTable kTable = {fill, add, scale, to_bf16, from_bf16, count_not_finite, adamw, sum_of_squares};

}  // namespace

const ElementwiseTable& elementwise_table() { return kTable; }

}  // namespace maxplus::host::MAXPLUS_SIMD
