#pragma once
// AdamW (Loshchilov and Hutter, 2019) over a list of parameters, with clipping by the norm of the whole gradient.
//
// Gradient and moments are flat blocks in the order of the parameters, as the weights are. Norms add squares in double
// over blocks of 4096 elements of each tensor, and the blocks' sums in byte order of the names: the same bits on any
// layout.

#include <cstdint>
#include <span>
#include <vector>

#include "device/stream.hpp"
#include "parallel/parameter.hpp"
#include "tensor/arena.hpp"
#include "tensor/tensor_view.hpp"

namespace maxplus {

struct AdamWSettings {
  double beta1 = 0.9;
  double beta2 = 0.95;
  double epsilon = 1e-8;
  double weight_decay = 0;   // on parameters with `decayed` only
  double gradient_clip = 0;  // largest norm that passes; 0: no clipping
};

struct UpdateReport {
  double gradient_norm = 0;  // before clipping
  double update_norm = 0;    // L2 norm of new minus old weights, as f32 differences
  bool skipped = false;      // the gradient is not finite, or 0 everywhere: nothing was changed, no step counted
};

class AdamW {
 public:
  // Takes two moments of the weights' size, and a small scratch, from `arena` (counting or real). `parameters` must
  // outlive this. A moment starts at zero.
  AdamW(std::span<const Parameter> parameters, const AdamWSettings& settings, Arena& arena);

  // The L2 norm over trainable parameters. NaN or infinity in the gradient makes it not finite (a square of an f32
  // cannot overflow a double), which is the test for a bad gradient. `gradient` [at least the elements of all
  // parameters].
  double gradient_norm(const Stream& stream, TensorView gradient);

  // One update, unless the gradient is not finite; the caller decides what that means. Every rank of a data-parallel
  // group has the same gradient, so all decide alike.
  UpdateReport step(const Stream& stream, TensorView gradient, double learning_rate);

  // State, for checkpoints.
  std::int64_t steps() const { return steps_; }
  void set_steps(std::int64_t steps) { steps_ = steps; }
  TensorView first_moment() const { return first_moment_; }
  TensorView second_moment() const { return second_moment_; }

 private:
  struct Slot {
    std::int64_t offset, size;   // in the flat blocks
    std::int64_t block, blocks;  // in partial_
  };

  double norm_from_partials(const Stream& stream);
  void update_parameter(const Stream& stream, std::size_t index, TensorView gradient, double learning_rate,
                        double scale);

  std::span<const Parameter> parameters_;
  AdamWSettings settings_;
  std::int64_t steps_ = 0;
  std::vector<Slot> slot_;               // of each parameter
  std::vector<std::size_t> name_order_;  // trainable parameters, by name
  TensorView first_moment_;              // [elements]
  TensorView second_moment_;             // [elements]
  TensorView partial_;                   // [blocks of all parameters] f64
  TensorView before_;                    // [kChunk]: weights before the update of a chunk
  std::vector<double> host_partial_;
};

}  // namespace maxplus
