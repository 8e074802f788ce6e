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
  host::for_each_run(stream, panels, panels, [&](host::Run run, host::Run, int) {
    PackJob job = whole;
    job.first_panel = run.first;
    job.last_panel = run.last;
    body(job);
  });
}

// Rows and panels of a product as a grid of parts, a row of the grid being one block of rows.
struct Grid {
  std::int64_t tiles, blocks;  // of rows; a block is whole tiles
  std::int64_t panels, groups;
};

// From so many rows on arithmetic is the limit, and threads share out the rows, each packing its own; below, reading
// the weights is, and each thread reads panels of its own.
constexpr std::int64_t kManyRows = 128;

// Panels of a part: enough that packing a block's rows costs little beside it, or that a stream of panels is not cut.
constexpr std::int64_t kMostPanels = 12, kMostPanelsOfFewRows = 4;

Grid grid_of(const MatmulTable& table, const ProductJob& job, std::int64_t rows, int threads) {
  Grid grid{(rows + table.tile_rows - 1) / table.tile_rows, 1, panels_of(job.outputs), 1};
  const bool few = rows <= table.few_rows;
  if (!few) {
    const std::int64_t most = table.block_rows(job) / table.tile_rows;
    const std::int64_t height =
        rows < kManyRows ? most : std::clamp<std::int64_t>((grid.tiles + threads - 1) / threads, 1, most);
    grid.blocks = (grid.tiles + height - 1) / height;
  }
  const std::int64_t together =
      std::clamp<std::int64_t>(grid.panels * grid.blocks / (8 * threads), 1, few ? kMostPanelsOfFewRows : kMostPanels);
  grid.groups = (grid.panels + together - 1) / together;
  return grid;
}

void run_product(const Stream& stream, const MatmulTable& table, const ProductJob& job, std::int64_t rows) {
  if (rows == 0 || job.outputs == 0) return;
  host::Team& team = stream.impl().team;
  const Grid grid = grid_of(table, job, rows, team.threads());
  host::for_each_run(stream, grid.blocks * grid.groups, grid.groups, [&](host::Run run, host::Run before, int thread) {
    const std::int64_t block = run.first / grid.groups, origin = block * grid.groups;
    const auto row = [&](std::int64_t b) { return std::min(grid.tiles * b / grid.blocks * table.tile_rows, rows); };
    const auto panel = [&](std::int64_t part) { return grid.panels * (part - origin) / grid.groups; };
    const bool same_rows = before.first < before.last && before.first / grid.groups == block;
    table.product(job, {row(block), row(block + 1), panel(run.first), panel(run.last), same_rows},
                  team.workspace(thread), host::Team::kWorkspaceFloats);
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
