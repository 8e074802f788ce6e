// AdamW and the blocks of the gradient's norm.

#include "ops/optimizer.hpp"

#include <algorithm>

#include "kokkos/kernel_table.hpp"
#include "kokkos/region.hpp"
#include "kokkos/simd/elementwise_table.hpp"
#include "kokkos/team.hpp"
#include "ops/checks.hpp"

namespace maxplus::ops {

void adamw(const Stream& stream, TensorView weight, TensorView first_moment, TensorView second_moment,
           TensorView gradient, const AdamWStep& step) {
  const host::Region region("adamw");
  const std::int64_t elements = weight.size();
  MAXPLUS_REQUIRE(
      first_moment.size() == elements && second_moment.size() == elements && gradient.size() == elements,
      describe(weight) + ", " + describe(first_moment) + ", " + describe(second_moment) + ", " + describe(gradient));
  const host::AdamWNumbers numbers{step.learning_rate, step.beta1,          step.beta2,       step.epsilon,
                                   step.weight_decay,  step.gradient_scale, step.correction1, step.correction2};
  float* w = weight.as<float>();
  float* m = first_moment.as<float>();
  float* v = second_moment.as<float>();
  const float* g = gradient.as<float>();
  const auto& table = MAXPLUS_TABLE(elementwise_table);
  const std::int64_t blocks = (elements + kNormBlock - 1) / kNormBlock;
  host::for_each_run(stream, blocks, blocks, [&](host::Run run, host::Run, int) {
    const std::int64_t begin = run.first * kNormBlock, count = std::min(run.last * kNormBlock, elements) - begin;
    table.adamw(w + begin, m + begin, v + begin, g + begin, numbers, count);
  });
}

void squared_norm_blocks(const Stream& stream, TensorView partial, TensorView values) {
  const host::Region region("squared_norm_blocks");
  const std::int64_t elements = values.size(), blocks = (elements + kNormBlock - 1) / kNormBlock;
  check_size("partial", partial, DType::f64, blocks);
  double* out = partial.as<double>();
  const float* in = values.as<float>();
  const auto& table = MAXPLUS_TABLE(elementwise_table);
  host::for_each_part(stream, blocks, [&](std::int64_t block) {
    const std::int64_t begin = block * kNormBlock;
    out[block] = table.sum_of_squares(in + begin, std::min(kNormBlock, elements - begin));
  });
}

}  // namespace maxplus::ops
