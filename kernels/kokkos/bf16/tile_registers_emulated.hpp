#pragma once
// The registers of tile_registers_amx.hpp in plain code. Of each block of 32 summed indices even and odd ones are two
// chains from zero; their sum is added to what is there. Included by tiles.cpp only.

namespace maxplus::host::MAXPLUS_SIMD {

class TileRegisters {
 public:
  template <int sums>
  void zero() {
    for (float& word : tile_[sums]) word = 0.0f;
  }
  template <int tile>
  void load(const float* words, std::int64_t stride) {
    for (int r = 0; r < 16; ++r) __builtin_memcpy(tile_[tile] + r * 16, words + r * stride, 16 * sizeof(float));
  }
  template <int sums>
  void store(float* out, std::int64_t stride) {
    for (int r = 0; r < 16; ++r) __builtin_memcpy(out + r * stride, tile_[sums] + r * 16, 16 * sizeof(float));
  }
  template <int sums>
  void multiply() {
    constexpr int rows = 4 + sums / 2, panel = 6 + sums % 2;
    for (int r = 0; r < 16; ++r) {
      Lanes even = broadcast(0.0f), odd = broadcast(0.0f);
      for (int pair = 0; pair < 16; ++pair) {
        const Lanes row = broadcast(tile_[rows][r * 16 + pair]),
                    column = host::MAXPLUS_SIMD::load(tile_[panel] + pair * 16);
        even = fma(low_bf16(row), low_bf16(column), even);
        odd = fma(high_bf16(row), high_bf16(column), odd);
      }
      float* acc = tile_[sums] + r * 16;
      host::MAXPLUS_SIMD::store(acc, host::MAXPLUS_SIMD::load(acc) + (even + odd));
    }
  }

 private:
  float tile_[8][256];
};

}  // namespace maxplus::host::MAXPLUS_SIMD
