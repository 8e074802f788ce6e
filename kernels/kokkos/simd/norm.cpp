// RMS normalisation by lanes along a row; its weight gradient with channels in lanes and a chain over tokens.
#include "kokkos/simd/norm_table.hpp"

#include "kokkos/simd/lanes.hpp"

namespace maxplus::host::MAXPLUS_SIMD {

namespace {

int lanes_left(std::int64_t extent, std::int64_t at) {
  return extent - at < kLanes ? static_cast<int>(extent - at) : kLanes;
}

void forward(float* out, float* inverse_rms, const float* in, const float* weight, std::int64_t rows,
             std::int64_t channels, float epsilon) {
  for (std::int64_t t = 0; t < rows; ++t, out += channels, in += channels) {
    Lanes squares = broadcast(0.0f);
    for (std::int64_t c = 0; c < channels; c += kLanes) {
      const Lanes x = load_masked(in + c, lanes_left(channels, c), 0.0f);
      squares = fma(x, x, squares);
    }
    const float mean = sum(squares) / static_cast<float>(channels);
    const float r = 1.0f / __builtin_sqrtf(mean + epsilon);
    inverse_rms[t] = r;
    for (std::int64_t c = 0; c < channels; c += kLanes) {
      const int count = lanes_left(channels, c);
      store_masked(out + c, load_masked(in + c, count, 0.0f) * broadcast(r) * load_masked(weight + c, count, 0.0f),
                   count);
    }
  }
}

// d in = r (d_out w) - in r^3 mean(d_out w in), and what arrives past the norm.
enum class Past : std::uint8_t { nothing, addend };
template <Past past>
MAXPLUS_LANE void row_gradient(float* d_in, const float* addend, const float* d_out, const float* in, float r,
                               const float* weight, std::int64_t channels) {
  Lanes products = broadcast(0.0f);
  for (std::int64_t c = 0; c < channels; c += kLanes) {
    const int count = lanes_left(channels, c);
    const Lanes d = load_masked(d_out + c, count, 0.0f) * load_masked(weight + c, count, 0.0f);
    products = fma(d, load_masked(in + c, count, 0.0f), products);
  }
  const float pull = r * r * r * (sum(products) / static_cast<float>(channels));
  for (std::int64_t c = 0; c < channels; c += kLanes) {
    const int count = lanes_left(channels, c);
    const Lanes d = load_masked(d_out + c, count, 0.0f) * load_masked(weight + c, count, 0.0f);
    Lanes own = fma(load_masked(in + c, count, 0.0f), broadcast(-pull), d * broadcast(r));
    if constexpr (past == Past::addend) own = load_masked(addend + c, count, 0.0f) + own;
    store_masked(d_in + c, own, count);
  }
}

void backward(float* d_in, const float* addend, const float* d_out, const float* in, const float* inverse_rms,
              const float* weight, std::int64_t rows, std::int64_t channels) {
  for (std::int64_t at = 0, t = 0; t < rows; ++t, at += channels) {
    row_gradient<Past::addend>(d_in + at, addend + at, d_out + at, in + at, inverse_rms[t], weight, channels);
  }
}

void backward_alone(float* d_in, const float* d_out, const float* in, const float* inverse_rms, const float* weight,
                    std::int64_t rows, std::int64_t channels) {
  for (std::int64_t at = 0, t = 0; t < rows; ++t, at += channels) {
    row_gradient<Past::nothing>(d_in + at, nullptr, d_out + at, in + at, inverse_rms[t], weight, channels);
  }
}

// `groups` groups of sixteen channels at once, so that each row is read in longer pieces.
template <int groups>
void gradient_of_groups(float* d_weight, const float* d_out, const float* in, const float* inverse_rms,
                        std::int64_t tokens, std::int64_t channels, std::int64_t first) {
  Lanes chain[groups];
  for (int g = 0; g < groups; ++g) chain[g] = load(d_weight + first + g * kLanes);
  for (std::int64_t t = 0; t < tokens; ++t) {
    const Lanes r = broadcast(inverse_rms[t]);
    for (int g = 0; g < groups; ++g) {
      const std::int64_t i = t * channels + first + g * kLanes;
      chain[g] = fma(load(d_out + i), load(in + i) * r, chain[g]);
    }
  }
  for (int g = 0; g < groups; ++g) store(d_weight + first + g * kLanes, chain[g]);
}

void weight_gradient(float* d_weight, const float* d_out, const float* in, const float* inverse_rms,
                     std::int64_t tokens, std::int64_t channels, std::int64_t first, std::int64_t last) {
  std::int64_t c = first;
  for (; c + 4 * kLanes <= last; c += 4 * kLanes)
    gradient_of_groups<4>(d_weight, d_out, in, inverse_rms, tokens, channels, c);
  for (; c + kLanes <= last; c += kLanes) gradient_of_groups<1>(d_weight, d_out, in, inverse_rms, tokens, channels, c);
  if (c == last) return;
  const int count = static_cast<int>(last - c);
  Lanes chain = load_masked(d_weight + c, count, 0.0f);
  for (std::int64_t t = 0; t < tokens; ++t) {
    const Lanes d = load_masked(d_out + t * channels + c, count, 0.0f);
    chain = fma(d, load_masked(in + t * channels + c, count, 0.0f) * broadcast(inverse_rms[t]), chain);
  }
  store_masked(d_weight + c, chain, count);
}

constexpr NormTable kTable = {forward, backward, backward_alone, weight_gradient};

}  // namespace

const NormTable& norm_table() { return kTable; }

}  // namespace maxplus::host::MAXPLUS_SIMD
