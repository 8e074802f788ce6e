// Matrix products of bf16 by tiles: 32 rows x 32 outputs at once, over 32 summed indices a multiplication. Compiled for
// AMX, and with its emulation.
//
// Rows are packed as pairs, a block of them at a time, and padded to whole tiles with zeros; panels are tiles as they
// lie in memory. Sums rest in the output between pieces of k, which are cut at multiples of 32. With a residual there
// is one piece only, since residual and output may be the same memory.

#include "kokkos/bf16/bf16_table.hpp"
#include "kokkos/simd/bf16_words.hpp"
#if defined(MAXPLUS_SIMD_avx512)
#include "kokkos/bf16/tile_registers_amx.hpp"
#else
#include "kokkos/bf16/tile_registers_emulated.hpp"
#endif

namespace maxplus::host::MAXPLUS_SIMD {

namespace {

constexpr std::int64_t kTile = 16;                // rows, outputs and pairs of a tile
constexpr std::int64_t kPieceUnits = 1024;        // pairs of a piece of k, at most
constexpr std::int64_t kBlockWords = 256 * 1024;  // packed rows that stay in the second cache: 1 MiB

std::int64_t smaller(std::int64_t a, std::int64_t b) { return a < b ? a : b; }
std::int64_t whole_tiles(std::int64_t rows) { return (rows + kTile - 1) / kTile * kTile; }

// Rows [first_row, first_row + rows) of one piece, packed as [row][units]; up to two tiles of rows and two panels.
struct Corner {
  const float* rows;
  std::int64_t row_count;
  const float* panels[2];
  std::int64_t units;
};

// Where the sums of a corner stand: in the output, or aside where a tile is not whole or a residual is added.
struct Sums {
  float* at;
  std::int64_t stride;
  bool go_on;
};

template <int row_tiles, int panels>
void corner_product(TileRegisters& tiles, const Corner& corner, const Sums& sums) {
  if (sums.go_on) {
    tiles.template load<0>(sums.at, sums.stride);
    if constexpr (panels > 1) tiles.template load<1>(sums.at + kTile, sums.stride);
    if constexpr (row_tiles > 1) tiles.template load<2>(sums.at + kTile * sums.stride, sums.stride);
    if constexpr (row_tiles > 1 && panels > 1)
      tiles.template load<3>(sums.at + kTile * sums.stride + kTile, sums.stride);
  } else {
    tiles.template zero<0>();
    if constexpr (panels > 1) tiles.template zero<1>();
    if constexpr (row_tiles > 1) tiles.template zero<2>();
    if constexpr (row_tiles > 1 && panels > 1) tiles.template zero<3>();
  }
  for (std::int64_t unit = 0; unit < corner.units; unit += kTile) {
    tiles.template load<4>(corner.rows + unit, corner.units);
    tiles.template load<6>(corner.panels[0] + unit * kLanes, kLanes);
    tiles.template multiply<0>();
    if constexpr (panels > 1) {
      tiles.template load<7>(corner.panels[1] + unit * kLanes, kLanes);
      tiles.template multiply<1>();
    }
    if constexpr (row_tiles > 1) {
      tiles.template load<5>(corner.rows + kTile * corner.units + unit, corner.units);
      tiles.template multiply<2>();
      if constexpr (panels > 1) tiles.template multiply<3>();
    }
  }
  tiles.template store<0>(sums.at, sums.stride);
  if constexpr (panels > 1) tiles.template store<1>(sums.at + kTile, sums.stride);
  if constexpr (row_tiles > 1) tiles.template store<2>(sums.at + kTile * sums.stride, sums.stride);
  if constexpr (row_tiles > 1 && panels > 1)
    tiles.template store<3>(sums.at + kTile * sums.stride + kTile, sums.stride);
}

void run_corner(TileRegisters& tiles, const Corner& corner, const Sums& sums) {
  const bool two_rows = corner.row_count > kTile, two_panels = corner.panels[1] != nullptr;
  if (two_rows && two_panels) {
    corner_product<2, 2>(tiles, corner, sums);
  } else if (two_rows) {
    corner_product<2, 1>(tiles, corner, sums);
  } else if (two_panels) {
    corner_product<1, 2>(tiles, corner, sums);
  } else {
    corner_product<1, 1>(tiles, corner, sums);
  }
}

// A corner of the output at (row, panel): straight into it where whole tiles fit, else through memory aside.
void output_corner(TileRegisters& tiles, const ProductJob& job, const Corner& corner, std::int64_t row,
                   std::int64_t panel, bool go_on) {
  const std::int64_t width = smaller(job.outputs - panel * kLanes, corner.panels[1] != nullptr ? 2 * kLanes : kLanes);
  float* out = job.output + row * job.output_stride + panel * kLanes;
  if (job.residual == nullptr && width % kLanes == 0 && corner.row_count % kTile == 0) {
    run_corner(tiles, corner, {out, job.output_stride, go_on});
    return;
  }
  float aside[2 * kTile * 2 * kLanes];
  constexpr std::int64_t kStride = 2 * kLanes;
  for (std::int64_t r = 0; go_on && r < 2 * kTile; ++r) {
    for (std::int64_t j = 0; j < kStride; j += kLanes) {
      const int count = static_cast<int>(r < corner.row_count ? smaller(width - j, kLanes) : 0);
      store(aside + r * kStride + j, load_masked(out + r * job.output_stride + j, count < 0 ? 0 : count, 0.0f));
    }
  }
  run_corner(tiles, corner, {aside, kStride, go_on});
  for (std::int64_t r = 0; r < corner.row_count; ++r) {
    for (std::int64_t j = 0; j < width; j += kLanes) {
      const int count = static_cast<int>(smaller(width - j, kLanes));
      Lanes value = load(aside + r * kStride + j);
      if (job.residual != nullptr) {
        value = load_masked(job.residual + row * job.output_stride + panel * kLanes + r * job.output_stride + j, count,
                            0.0f) +
                value;
      }
      store_masked(out + r * job.output_stride + j, value, count);
    }
  }
}

// packed [rows up to whole tiles][units]
void pack(float* packed, const ProductJob& job, std::int64_t first_row, std::int64_t rows, std::int64_t unit,
          std::int64_t units) {
  if (job.a_k_stride == 1) {
    for (std::int64_t r = 0; r < rows; ++r) words_along<PairWord>(packed + r * units, job, first_row + r, unit, units);
  } else {
    float words[kTile][kTile];
    for (std::int64_t row = 0; row < rows; row += kTile) {
      const std::int64_t count = smaller(kTile, rows - row);
      for (std::int64_t u = 0; u < units; u += kTile) {
        for (std::int64_t i = 0; i < kTile; ++i)
          words_across<PairWord>(words[i], 0, job, first_row + row, count, unit + u + i);
        for (std::int64_t r = 0; r < count; ++r) {
          for (std::int64_t i = 0; i < kTile; ++i) packed[(row + r) * units + u + i] = words[i][r];
        }
      }
    }
  }
  for (std::int64_t word = rows * units; word < whole_tiles(rows) * units; ++word) packed[word] = 0.0f;
}

// With a residual there is one piece of k.
std::int64_t piece_units(const ProductJob& job) {
  const std::int64_t stored = bf16_units(job.inputs);
  const std::int64_t most = job.residual != nullptr ? stored : smaller(stored, kPieceUnits);
  return most > 0 ? most : 1;
}

std::int64_t block_rows(const ProductJob& job) {
  const std::int64_t fitting = kBlockWords / piece_units(job) / (2 * kTile) * (2 * kTile);
  return fitting > 0 ? fitting : kTile;
}

void product(const ProductJob& job, const ProductShare& share, float* workspace, std::int64_t) {
  TileRegisters tiles;
  const std::int64_t stored = bf16_units(job.inputs), most = piece_units(job);
  const std::int64_t row = share.first_row, rows = share.last_row - row;
  for (std::int64_t unit = 0; unit < stored || unit == 0; unit += most) {
    const std::int64_t units = smaller(most, stored - unit);
    if (!share.same_rows || units < stored) pack(workspace, job, row, rows, unit, units);
    const bool go_on = unit > 0 || job.start == Start::from_output;
    for (std::int64_t panel = share.first_panel; panel < share.last_panel; panel += 2) {
      const float* first = job.panels + (panel * stored + unit) * kLanes;
      const float* second = panel + 1 < share.last_panel ? first + stored * kLanes : nullptr;
      for (std::int64_t r = 0; r < rows; r += 2 * kTile) {
        const Corner corner{workspace + r * units, smaller(2 * kTile, rows - r), {first, second}, units};
        output_corner(tiles, job, corner, row + r, panel, go_on);
      }
    }
  }
}

float probe(std::int64_t rounds) {
  TileRegisters tiles;
  float words[256];
  for (float& word : words) word = pair_word(0.5f, 0.25f);
  tiles.zero<0>();
  tiles.zero<1>();
  tiles.zero<2>();
  tiles.zero<3>();
  tiles.load<4>(words, kTile);
  tiles.load<5>(words, kTile);
  tiles.load<6>(words, kTile);
  tiles.load<7>(words, kTile);
  for (std::int64_t round = 0; round < rounds; ++round) {
    tiles.multiply<0>();
    tiles.multiply<1>();
    tiles.multiply<2>();
    tiles.multiply<3>();
  }
  float out[256], total = 0.0f;
  tiles.store<0>(out, kTile);
  total += out[0];
  tiles.store<3>(out, kTile);
  return total + out[255];
}

// Few rows and many run the same way; rows are best cut in whole tiles.
constexpr MatmulTable kTable = {2 * kTile, kTile, block_rows, product, pack_rows_bf16, pack_columns_bf16};

}  // namespace

const MatmulTable& tiles_table() { return kTable; }
PeakProbe tiles_probe() { return {probe, 4 * 16 * 16 * 64}; }

}  // namespace maxplus::host::MAXPLUS_SIMD
