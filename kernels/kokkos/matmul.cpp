// Matrix products: checks, and the cutting of the outputs over the team.

#include "ops/matmul.hpp"

#include <algorithm>

#include "kokkos/bf16/bf16_table.hpp"
#include "kokkos/kernel_table.hpp"
#include "kokkos/region.hpp"
#include "kokkos/simd/matmul_table.hpp"
#include "kokkos/team.hpp"
#include "ops/checks.hpp"

namespace maxplus::ops {

namespace {

using host::MatmulTable;
using host::PackJob;
using host::ProductJob;
using host::ProductShare;

std::int64_t panels_of(std::int64_t outputs) { return (outputs + kPanelWidth - 1) / kPanelWidth; }

const MatmulTable& table_of(Arithmetic arithmetic) {
  switch (arithmetic) {
    case Arithmetic::f32: break;
    case Arithmetic::bf16_dot: return host::bf16_dot_table();
    case Arithmetic::bf16_tiles: return host::bf16_tiles_table();
  }
  return MAXPLUS_TABLE(matmul_table);
}

// Words of 4 bytes.
std::int64_t packed_words(std::int64_t outputs, std::int64_t inputs, Arithmetic arithmetic) {
  return panels_of(outputs) * kPanelWidth * (arithmetic == Arithmetic::f32 ? inputs : host::bf16_units(inputs));
}

float* words_of(const TensorView& packed) { return static_cast<float*>(packed.data()); }

void pack(const Stream& stream, std::int64_t panels, const PackJob& whole, void (*body)(const PackJob&)) {
  host::for_each_range(stream, panels, [&](std::int64_t first, std::int64_t last, int) {
    PackJob job = whole;
    job.first_panel = first;
    job.last_panel = last;
    body(job);
  });
}

// From so many rows on arithmetic is the limit, and a thread of its own rows packs them alone; below, reading the
// weights is, and a thread of its own panels reads them alone.
constexpr std::int64_t kManyRows = 128;

// How many of the threads cut rows; the others cut panels. The cut with the smallest largest share wins.
int threads_over_rows(int threads, std::int64_t rows, std::int64_t tiles, std::int64_t panels) {
  int best = 1;
  std::int64_t least = -1;
  for (int by_rows = 1; by_rows <= threads; ++by_rows) {
    if (threads % by_rows != 0) continue;
    const std::int64_t by_panels = threads / by_rows;
    const std::int64_t share = ((tiles + by_rows - 1) / by_rows) * ((panels + by_panels - 1) / by_panels);
    // A tile more or less in a hundred is not worth packing all rows in each thread.
    if (least < 0 || share < least || (rows >= kManyRows && share * 100 <= least * 101)) {
      least = share;
      best = by_rows;
    }
  }
  return best;
}

void run_product(const Stream& stream, const MatmulTable& table, const ProductJob& job, std::int64_t rows) {
  if (rows == 0 || job.outputs == 0) return;
  host::Team& team = stream.impl().team;
  const std::int64_t panels = panels_of(job.outputs);
  const std::int64_t tiles = (rows + table.tile_rows - 1) / table.tile_rows;
  const int threads = team.threads();
  const int by_rows = rows <= table.few_rows ? 1 : threads_over_rows(threads, rows, tiles, panels);
  const int by_panels = threads / by_rows;
  host::for_each_range(stream, threads, [&](std::int64_t first, std::int64_t last, int thread) {
    for (std::int64_t part = first; part < last; ++part) {
      const int r = static_cast<int>(part) / by_panels, p = static_cast<int>(part) % by_panels;
      const ProductShare share{host::part_begin(tiles, by_rows, r) * table.tile_rows,
                               std::min(host::part_begin(tiles, by_rows, r + 1) * table.tile_rows, rows),
                               host::part_begin(panels, by_panels, p), host::part_begin(panels, by_panels, p + 1)};
      if (share.first_row < share.last_row && share.first_panel < share.last_panel) {
        table.product(job, share, team.workspace(thread), host::Team::kWorkspaceFloats);
      }
    }
  });
}

void check_matrix(const char* what, const TensorView& view) {
  check_view(what, view, DType::f32, {view.extent(0), view.extent(1)});
}

void forward(const Stream& stream, const TensorView& out, const float* residual, const TensorView& in,
             const TensorView& packed, std::int64_t outputs, Arithmetic arithmetic) {
  check_matrix("in", in);
  const std::int64_t rows = in.extent(0), inputs = in.extent(1);
  check_view("out", out, DType::f32, {rows, outputs});
  check_size("packed", packed, packed_type(arithmetic), packed_elements(outputs, inputs, arithmetic));
  run_product(stream, table_of(arithmetic),
              ProductJob{in.as<float>(), inputs, 1, words_of(packed), inputs, outputs, out.as<float>(), outputs,
                         host::Start::from_zero, residual},
              rows);
}

}  // namespace

std::string_view name_of(Arithmetic arithmetic) {
  switch (arithmetic) {
    case Arithmetic::f32: break;
    case Arithmetic::bf16_dot: return "bf16_dot";
    case Arithmetic::bf16_tiles: return "bf16_tiles";
  }
  return "f32";
}

Arithmetic native_bf16() {
  return host::instruction_set_in_use() == host::InstructionSet::amx ? Arithmetic::bf16_tiles : Arithmetic::bf16_dot;
}

DType packed_type(Arithmetic arithmetic) { return arithmetic == Arithmetic::f32 ? DType::f32 : DType::bf16; }

std::int64_t packed_elements(std::int64_t outputs, std::int64_t inputs, Arithmetic arithmetic) {
  return packed_words(outputs, inputs, arithmetic) * (arithmetic == Arithmetic::f32 ? 1 : 2);
}

void pack_weight(const Stream& stream, TensorView packed, TensorView weight, Arithmetic arithmetic) {
  const host::Region region("pack_weight");
  check_matrix("weight", weight);
  const std::int64_t outputs = weight.extent(0), inputs = weight.extent(1);
  check_size("packed", packed, packed_type(arithmetic), packed_elements(outputs, inputs, arithmetic));
  pack(stream, panels_of(outputs), PackJob{words_of(packed), weight.as<float>(), outputs, inputs, 0, 0},
       table_of(arithmetic).pack_rows);
}

void pack_weight_transposed(const Stream& stream, TensorView packed, TensorView weight, Arithmetic arithmetic) {
  const host::Region region("pack_weight_transposed");
  check_matrix("weight", weight);
  const std::int64_t inputs = weight.extent(0), outputs = weight.extent(1);
  check_size("packed", packed, packed_type(arithmetic), packed_elements(outputs, inputs, arithmetic));
  pack(stream, panels_of(outputs), PackJob{words_of(packed), weight.as<float>(), inputs, outputs, 0, 0},
       table_of(arithmetic).pack_columns);
}

void matmul(const Stream& stream, TensorView out, TensorView in, TensorView packed, std::int64_t outputs,
            Arithmetic arithmetic) {
  const host::Region region("matmul");
  forward(stream, out, nullptr, in, packed, outputs, arithmetic);
}

void matmul_add_residual(const Stream& stream, TensorView out, TensorView residual, TensorView in, TensorView packed,
                         std::int64_t outputs, Arithmetic arithmetic) {
  const host::Region region("matmul_add_residual");
  check_view("residual", residual, DType::f32, {in.extent(0), outputs});
  forward(stream, out, residual.as<float>(), in, packed, outputs, arithmetic);
}

std::int64_t weight_gradient_scratch(const Stream&, std::int64_t tokens, std::int64_t, std::int64_t inputs,
                                     Arithmetic arithmetic) {
  return packed_words(inputs, tokens, arithmetic);
}

void matmul_weight_gradient(const Stream& stream, TensorView d_weight, TensorView d_out, TensorView in,
                            TensorView scratch, Arithmetic arithmetic) {
  const host::Region region("matmul_weight_gradient");
  check_matrix("d_weight", d_weight);
  const std::int64_t outputs = d_weight.extent(0), inputs = d_weight.extent(1), tokens = in.extent(0);
  check_view("in", in, DType::f32, {tokens, inputs});
  check_view("d_out", d_out, DType::f32, {tokens, outputs});
  check_size("scratch", scratch, DType::f32, weight_gradient_scratch(stream, tokens, outputs, inputs, arithmetic));
  if (tokens == 0) return;
  pack(stream, panels_of(inputs), PackJob{scratch.as<float>(), in.as<float>(), tokens, inputs, 0, 0},
       table_of(arithmetic).pack_columns);
  run_product(stream, table_of(arithmetic),
              ProductJob{d_out.as<float>(), 1, outputs, scratch.as<float>(), tokens, inputs, d_weight.as<float>(),
                         inputs, host::Start::from_output, nullptr},
              outputs);
}

}  // namespace maxplus::ops
