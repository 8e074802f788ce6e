#pragma once
// Matrix products for any arithmetic of chains: tiles of rows x 16 outputs, each output one chain over k ascending.
//
// An Engine says what a step of a chain is. It works on units: 64 bytes of a panel, which are one summed index of fp32
// or two of bf16 (low half the even one), and kRowWords words of 4 bytes a row. It has
//   kRowWords                     words of a row in a unit, and steps: step p uses word p
//   units(inputs)                 of a chain
//   stored_units(inputs)          of a panel in memory
//   kRowsAsTheyAre                a row in memory is what the chain reads: few rows need no packing
//   column(unit, phase)           sixteen outputs of a panel, ready for a step
//   row(word)                     a word of a row, for sixteen outputs
//   step(acc, row, column)        the chain goes on
//   pack_row / pack_tiles         rows of the left factor as words
//
// Many rows (Goto and van de Geijn, 2008): rows are cut so that their packed piece stays in the second cache beside a
// panel's piece; accumulators rest in the output between pieces of k, which changes no bit. Pieces are long, because
// each passes once over the output, which costs more than reading the panel from the second cache. Few rows: the panels
// are streamed once, each used by all rows, while the next piece is prefetched; there the memory is the limit.

#include "kokkos/simd/lanes.hpp"
#include "kokkos/simd/matmul_table.hpp"
#include "kokkos/simd/pack.hpp"
#include "kokkos/simd/tile.hpp"

namespace maxplus::host::MAXPLUS_SIMD {

#if defined(MAXPLUS_SIMD_avx512)
inline constexpr int kTilePanels = 2;
#else
inline constexpr int kTilePanels = 1;
#endif

inline constexpr std::int64_t kFewRows = 24;

MAXPLUS_LANE std::int64_t smaller(std::int64_t a, std::int64_t b) { return a < b ? a : b; }
MAXPLUS_LANE std::int64_t pieces_of(std::int64_t extent, std::int64_t most) {
  return extent <= most ? 1 : (extent + most - 1) / most;
}

template <class Engine>
class ProductBody {
 public:
  static std::int64_t block_rows(const ProductJob& job) {
    const std::int64_t units = Engine::units(job.inputs), pieces = pieces_of(units, kPiece);
    const std::int64_t piece = units < kLeastPiece ? kLeastPiece : (units + pieces - 1) / pieces;
    return kBlockWords / (piece * kWords) / kTileRows * kTileRows;
  }

  static void product(const ProductJob& job, const ProductShare& share, float* workspace,
                      std::int64_t workspace_floats) {
    const std::int64_t rows = share.last_row - share.first_row;
    const bool fits = Engine::kRowsAsTheyAre || rows * Engine::units(job.inputs) * kWords <= workspace_floats;
    if (rows <= kFewRows && job.a_k_stride == 1 && job.start == Start::from_zero && fits) {
      few_rows_product(job, share, workspace);
    } else {
      many_rows_product(job, share, workspace, workspace_floats);
    }
  }

 private:
  static constexpr int kWords = Engine::kRowWords;
  static constexpr std::int64_t kFewPiece = 288;      // units a piece with few rows: 18 KiB of a panel,
  static constexpr std::int64_t kStreamPiece = 1024;  // and when one tile takes all rows, so that nothing is read twice
  static constexpr std::int64_t kPiece = 576;         // units a piece with many rows, at most: 36 KiB of a panel
  static constexpr std::int64_t kLeastPiece =
      128;  // a shorter one is counted as this, so that blocks fit the workspace
  static constexpr std::int64_t kBlockWords = 48 * 1024;  // packed rows that stay in the second cache: 192 KiB
  static constexpr std::int64_t kAhead = 1024;            // words between the weight in use and the one prefetched

  static int width_of(const ProductJob& job, std::int64_t panel) {
    return static_cast<int>(smaller(job.outputs - panel * kLanes, kLanes));
  }
  static const float* panel_of(const ProductJob& job, std::int64_t panel) {
    return job.panels + panel * Engine::stored_units(job.inputs) * kLanes;
  }

  // ---- few rows ----

  struct Strip {
    const float* a;  // word w of unit i at i * kWords + w
    std::int64_t a_stride;
    const float* panel;
    std::int64_t units;
    float* sums;  // [rows][16]
    Chain chain;
    const float* prefetch;
  };

  // Every third row has a pointer of its own, the two after it are reached by the stride: few registers, no arithmetic.
  template <int rows>
  MAXPLUS_LANE static void strip_unit(Lanes (&acc)[rows], const float* const (&a)[(rows + 2) / 3], std::int64_t stride,
                                      std::int64_t i, const float* unit) {
#pragma GCC unroll 2
    for (int phase = 0; phase < kWords; ++phase) {
      const typename Engine::Column column = Engine::column(unit, phase);
      const std::int64_t word = i * kWords + phase;
#pragma GCC unroll 16
      for (int r = 0; r < rows; ++r)
        acc[r] = Engine::step(acc[r], Engine::row(a[r / 3][r % 3 * stride + word]), column);
    }
  }

  // `lines` of 64 bytes are prefetched for every four units.
  template <int rows, int lines>
  [[gnu::noinline]] static void strip_product(const Strip& s) {
    Lanes acc[rows];
#pragma GCC unroll 16
    for (int r = 0; r < rows; ++r) acc[r] = s.chain == Chain::go_on ? load(s.sums + r * kLanes) : broadcast(0.0f);
    const float* b = s.panel;
    constexpr int kGroups = (rows + 2) / 3;
    const float* a[kGroups];
#pragma GCC unroll 4
    for (int g = 0; g < kGroups; ++g) a[g] = s.a + 3 * g * s.a_stride;
    const float* ahead = s.prefetch;
    std::int64_t unit = 0;
    for (; unit + 4 <= s.units; unit += 4) {
#pragma GCC unroll 4
      for (int line = 0; line < lines; ++line) __builtin_prefetch(ahead + line * kLanes, 0, 3);
      ahead += lines * kLanes;
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) strip_unit<rows>(acc, a, s.a_stride, i, b + i * kLanes);
      b += 4 * kLanes;
#pragma GCC unroll 4
      for (int g = 0; g < kGroups; ++g) a[g] += 4 * kWords;
    }
    for (; unit < s.units; ++unit) {
      strip_unit<rows>(acc, a, s.a_stride, 0, b);
      b += kLanes;
#pragma GCC unroll 4
      for (int g = 0; g < kGroups; ++g) a[g] += kWords;
    }
#pragma GCC unroll 16
    for (int r = 0; r < rows; ++r) store(s.sums + r * kLanes, acc[r]);
  }

  template <int lines, int rows = kTileRows>
  static void strip_rows(std::int64_t row_count, const Strip& s) {
    if constexpr (rows > 1) {
      if (row_count < rows) {
        strip_rows<lines, rows - 1>(row_count, s);
        return;
      }
    }
    strip_product<rows, lines>(s);
  }

  static void finish_rows(const ProductJob& job, const float* sums, std::int64_t sums_stride, std::int64_t first_row,
                          std::int64_t rows, std::int64_t panel) {
    const int width = width_of(job, panel);
    for (std::int64_t r = 0; r < rows; ++r) {
      const std::int64_t at = (first_row + r) * job.output_stride + panel * kLanes;
      Lanes value = load(sums + r * sums_stride);
      if (job.residual != nullptr) value = load_masked(job.residual + at, width, 0.0f) + value;
      store_masked(job.output + at, value, width);
    }
  }

  // Rows in blocks of nearly equal height, since a tile of two or three rows cannot hide the latency of its chains.
  static void few_rows_panel(const ProductJob& job, const float* a, std::int64_t a_stride, const ProductShare& share,
                             std::int64_t panel) {
    float sums[kFewRows * kLanes];
    const std::int64_t rows = share.last_row - share.first_row, units = Engine::units(job.inputs);
    const std::int64_t blocks = (rows + kTileRows - 1) / kTileRows;
    const float* weights = panel_of(job, panel);
    const std::int64_t pieces = pieces_of(units, blocks == 1 ? kStreamPiece : kFewPiece);
    for (std::int64_t piece = 0; piece < pieces; ++piece) {
      const std::int64_t unit = units * piece / pieces, count = units * (piece + 1) / pieces - unit;
      for (std::int64_t block = 0; block < blocks; ++block) {
        const std::int64_t row = rows * block / blocks, row_count = rows * (block + 1) / blocks - row;
        Strip strip{
            a + row * a_stride + unit * kWords,           a_stride, weights + unit * kLanes, count, sums + row * kLanes,
            piece == 0 ? Chain::from_zero : Chain::go_on, nullptr};
        // One block streams ahead of itself; several share the lines of the next piece, which follows in memory.
        const float* next = strip.panel + count * kLanes;
        if (blocks == 1) {
          strip.prefetch = strip.panel + kAhead;
          strip_rows<4>(row_count, strip);
        } else if (blocks <= 3) {
          strip.prefetch = next + block * (count / 4 * 2) * kLanes;
          strip_rows<2>(row_count, strip);
        } else {
          strip.prefetch = next + block * (count / 4) * kLanes;
          strip_rows<1>(row_count, strip);
        }
      }
    }
    finish_rows(job, sums, kLanes, share.first_row, rows, panel);
  }

  static void few_rows_product(const ProductJob& job, const ProductShare& share, float* workspace) {
    const float* a = job.a + share.first_row * job.a_row_stride;
    std::int64_t a_stride = job.a_row_stride;
    if constexpr (!Engine::kRowsAsTheyAre) {
      a_stride = Engine::units(job.inputs) * kWords;
      for (std::int64_t r = share.first_row; r < share.last_row && !share.same_rows; ++r) {
        Engine::pack_row(workspace + (r - share.first_row) * a_stride, job, r, 0, Engine::units(job.inputs));
      }
      a = workspace;
    }
    for (std::int64_t panel = share.first_panel; panel < share.last_panel; ++panel) {
      few_rows_panel(job, a, a_stride, share, panel);
    }
  }

  // ---- many rows ----

  // A tile of packed rows ([unit][word][kTileRows]) times panels that lie panel_stride apart; c's panels are
  // c_panel_stride apart.
  struct Tile {
    const float* a;
    const float* panel;
    std::int64_t panel_stride;
    float* c;
    std::int64_t c_stride, c_panel_stride;
    std::int64_t units;
    Chain chain;
    const float* prefetch;
  };

  // Not inlined: the sums need all registers.
  template <int rows, int panels>
  [[gnu::noinline]] static void tile_body(const Tile& t) {
    Lanes acc[panels][rows];
#pragma GCC unroll 2
    for (int p = 0; p < panels; ++p) {
#pragma GCC unroll 16
      for (int r = 0; r < rows; ++r) {
        acc[p][r] = t.chain == Chain::go_on ? load(t.c + p * t.c_panel_stride + r * t.c_stride) : broadcast(0.0f);
      }
    }
    // The sums of the next tile come while this one works.
#pragma GCC unroll 2
    for (int p = 0; p < panels; ++p) {
#pragma GCC unroll 16
      for (int r = 0; r < rows; ++r) __builtin_prefetch(t.c + p * t.c_panel_stride + (rows + r) * t.c_stride, 1, 3);
    }
    const float* a = t.a;
    const float* b = t.panel;
    const float* ahead = t.prefetch;
    const auto word_step = [&](std::int64_t i, int word) __attribute__((always_inline)) {
      typename Engine::Column column[panels];
#pragma GCC unroll 2
      for (int p = 0; p < panels; ++p) column[p] = Engine::column(b + p * t.panel_stride + i * kLanes, word);
#pragma GCC unroll 16
      for (int r = 0; r < rows; ++r) {
        const typename Engine::Row row = Engine::row(a[(i * kWords + word) * kTileRows + r]);
#pragma GCC unroll 2
        for (int p = 0; p < panels; ++p) acc[p][r] = Engine::step(acc[p][r], row, column[p]);
      }
    };
    const auto step = [&](std::int64_t i) __attribute__((always_inline)) {
      word_step(i, 0);
      if constexpr (kWords > 1) word_step(i, 1);
    };
    std::int64_t unit = 0;
    for (; unit + 4 <= t.units; unit += 4) {
#pragma GCC unroll 2
      for (int p = 0; p < panels; ++p) __builtin_prefetch(ahead + p * t.panel_stride, 0, 2);
      step(0);
      step(1);
      step(2);
      step(3);
      ahead += kLanes;
      b += 4 * kLanes;
      a += 4 * kWords * kTileRows;
    }
    for (; unit < t.units; ++unit) {
      step(0);
      b += kLanes;
      a += kWords * kTileRows;
    }
#pragma GCC unroll 2
    for (int p = 0; p < panels; ++p) {
#pragma GCC unroll 16
      for (int r = 0; r < rows; ++r) store(t.c + p * t.c_panel_stride + r * t.c_stride, acc[p][r]);
    }
  }

  template <int panels, int rows = kTileRows>
  static void tile_rows(std::int64_t row_count, const Tile& t) {
    if constexpr (rows > 1) {
      if (row_count < rows) {
        tile_rows<panels, rows - 1>(row_count, t);
        return;
      }
    }
    tile_body<rows, panels>(t);
  }

  // A block of rows, one piece of k, some panels. The sums rest at `c`, element (row, panel, j) at
  // row * c_stride + panel * c_panel_stride + j, both counted from the block's begin.
  struct Block {
    std::int64_t first_row, rows, first_panel, last_panel, unit, units;
    float* c;
    std::int64_t c_stride, c_panel_stride;
    Chain chain;
  };

  // The last panel of an output whose width is no multiple of 16 goes through a tile aside.
  static void narrow_tile(std::int64_t rows, int width, Tile t) {
    float aside[kTileRows * kLanes];
    float* c = t.c;
    const std::int64_t c_stride = t.c_stride;
    if (t.chain == Chain::go_on) {
      for (std::int64_t r = 0; r < rows; ++r) store(aside + r * kLanes, load_masked(c + r * c_stride, width, 0.0f));
    }
    t.c = aside;
    t.c_stride = kLanes;
    tile_rows<1>(rows, t);
    for (std::int64_t r = 0; r < rows; ++r) store_masked(c + r * c_stride, load(aside + r * kLanes), width);
  }

  static void block_product(const ProductJob& job, const Block& block, const float* packed, bool full_width) {
    const std::int64_t panel_words = Engine::stored_units(job.inputs) * kLanes;
    const TileCut cut(block.rows, kTileRows);
    for (std::int64_t panel = block.first_panel; panel < block.last_panel;) {
      const bool pair =
          kTilePanels == 2 && panel + 1 < block.last_panel && (full_width || width_of(job, panel + 1) == kLanes);
      const float* weights = panel_of(job, panel) + block.unit * kLanes;
      const std::int64_t step = pair ? 2 : 1;
      // Behind the last panel of the share too, which the thread's next share often begins with.
      const float* next = (panel + step) * kLanes < job.outputs ? weights + step * panel_words : weights;
      for (std::int64_t t = 0; t < cut.tiles; ++t) {
        const std::int64_t row = cut.begin(t), rows = cut.begin(t + 1) - row;
        const std::int64_t quarter = t % 4;  // four tiles prefetch the next piece between them
        const Tile tile{packed + t * kTileRows * block.units * kWords,
                        weights,
                        panel_words,
                        block.c + row * block.c_stride + (panel - block.first_panel) * block.c_panel_stride,
                        block.c_stride,
                        block.c_panel_stride,
                        block.units,
                        block.chain,
                        next + quarter * (block.units / 4) * kLanes};
        if (pair) {
          tile_rows<kTilePanels>(rows, tile);
        } else if (full_width || width_of(job, panel) == kLanes) {
          tile_rows<1>(rows, tile);
        } else {
          narrow_tile(rows, width_of(job, panel), tile);
        }
      }
      panel += step;
    }
  }

  // The rows of a share, packed piece after piece: all of them, for later shares of the same rows, if they fit the
  // second cache, else each piece in the place of the one before.
  struct PackedRows {
    float* at;
    std::int64_t height;  // whole tiles
    bool all, done;
    float* piece(std::int64_t unit) const { return all ? at + height * unit * kWords : at; }
  };

  // All pieces of k of one block of rows over panels [first_panel, last_panel).
  static void all_pieces(const ProductJob& job, Block block, const PackedRows& packed, bool full_width) {
    const std::int64_t units = Engine::units(job.inputs), pieces = pieces_of(units, kPiece);
    for (std::int64_t piece = 0; piece < pieces; ++piece) {
      block.unit = units * piece / pieces;
      block.units = units * (piece + 1) / pieces - block.unit;
      float* at = packed.piece(block.unit);
      if (!packed.done) Engine::pack_tiles(at, job, block.first_row, block.rows, block.unit, block.units);
      block.chain = piece > 0 || job.start == Start::from_output ? Chain::go_on : Chain::from_zero;
      block_product(job, block, at, full_width);
    }
  }

  static void many_rows_product(const ProductJob& job, const ProductShare& share, float* workspace,
                                std::int64_t workspace_floats) {
    const std::int64_t row = share.first_row, rows = share.last_row - row, units = Engine::units(job.inputs);
    const std::int64_t height = (rows + kTileRows - 1) / kTileRows * kTileRows;
    const bool all = height * units * kWords <= 2 * kBlockWords;
    PackedRows packed{workspace, height, all, all && share.same_rows};
    if (job.residual == nullptr) {
      const Block block{row,
                        rows,
                        share.first_panel,
                        share.last_panel,
                        0,
                        0,
                        job.output + row * job.output_stride + share.first_panel * kLanes,
                        job.output_stride,
                        kLanes,
                        Chain::from_zero};
      all_pieces(job, block, packed, false);
      return;
    }
    // With a residual the sums rest aside, since residual and output may be the same memory.
    const std::int64_t words = height * (all ? units : kPiece) * kWords;
    float* sums = workspace + words;
    const std::int64_t group = (workspace_floats - words) / (height * kLanes);
    for (std::int64_t panel = share.first_panel; panel < share.last_panel; panel += group) {
      const Block block{row,
                        rows,
                        panel,
                        smaller(panel + group, share.last_panel),
                        0,
                        0,
                        sums,
                        kLanes,
                        height * kLanes,
                        Chain::from_zero};
      all_pieces(job, block, packed, true);
      packed.done = all;
      for (std::int64_t p = block.first_panel; p < block.last_panel; ++p) {
        finish_rows(job, sums + (p - block.first_panel) * block.c_panel_stride, kLanes, row, rows, p);
      }
    }
  }
};

}  // namespace maxplus::host::MAXPLUS_SIMD
