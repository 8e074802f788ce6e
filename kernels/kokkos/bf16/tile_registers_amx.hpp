#pragma once
// The eight tile registers of AMX: 0 to 3 hold sums [16][16], 4 and 5 rows [16][32 bf16], 6 and 7 panels
// [16 pairs][16][2]. Included by tiles.cpp only. The process must have asked for them (kernel_table.cpp).

#include <immintrin.h>

namespace maxplus::host::MAXPLUS_SIMD {

class TileRegisters {
 public:
  TileRegisters() {
    struct alignas(64) {
      std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
      std::uint16_t bytes_a_row[16] = {};
      std::uint8_t rows[16] = {};
    } shape;
    for (int tile = 0; tile < 8; ++tile) {
      shape.bytes_a_row[tile] = 64;
      shape.rows[tile] = 16;
    }
    _tile_loadconfig(&shape);
  }
  ~TileRegisters() { _tile_release(); }

  // g++ 12 writes the register's name out of the argument's text, so it must be a number there.
  template <int sums>
  MAXPLUS_LANE void zero() {
    if constexpr (sums == 0) _tile_zero(0);
    if constexpr (sums == 1) _tile_zero(1);
    if constexpr (sums == 2) _tile_zero(2);
    if constexpr (sums == 3) _tile_zero(3);
  }
  template <int tile>
  MAXPLUS_LANE void load(const float* words, std::int64_t stride) {
    if constexpr (tile == 0) _tile_loadd(0, words, stride * 4);
    if constexpr (tile == 1) _tile_loadd(1, words, stride * 4);
    if constexpr (tile == 2) _tile_loadd(2, words, stride * 4);
    if constexpr (tile == 3) _tile_loadd(3, words, stride * 4);
    if constexpr (tile == 4) _tile_loadd(4, words, stride * 4);
    if constexpr (tile == 5) _tile_loadd(5, words, stride * 4);
    if constexpr (tile == 6) _tile_loadd(6, words, stride * 4);
    if constexpr (tile == 7) _tile_loadd(7, words, stride * 4);
  }
  template <int sums>
  MAXPLUS_LANE void store(float* out, std::int64_t stride) {
    if constexpr (sums == 0) _tile_stored(0, out, stride * 4);
    if constexpr (sums == 1) _tile_stored(1, out, stride * 4);
    if constexpr (sums == 2) _tile_stored(2, out, stride * 4);
    if constexpr (sums == 3) _tile_stored(3, out, stride * 4);
  }
  // Sums 0 to 3 are those of rows 4, 4, 5, 5 and panels 6, 7, 6, 7.
  template <int sums>
  MAXPLUS_LANE void multiply() {
    if constexpr (sums == 0) _tile_dpbf16ps(0, 4, 6);
    if constexpr (sums == 1) _tile_dpbf16ps(1, 4, 7);
    if constexpr (sums == 2) _tile_dpbf16ps(2, 5, 6);
    if constexpr (sums == 3) _tile_dpbf16ps(3, 5, 7);
  }
};

}  // namespace maxplus::host::MAXPLUS_SIMD
