#pragma once
// The lanes behind plain function pointers, so that tests can compare the instruction sets on one machine.

#include <cstdint>

namespace maxplus::host {

struct LanesTable {
  void (*load_masked)(float* out, const float* in, int count, float fill);
  void (*store_masked)(float* out, const float* in, int count);
  void (*select)(float* out, int count, const float* a, const float* b);
  void (*add)(float* out, const float* a, const float* b);
  void (*subtract)(float* out, const float* a, const float* b);
  void (*multiply)(float* out, const float* a, const float* b);
  void (*divide)(float* out, const float* a, const float* b);
  void (*fma)(float* out, const float* a, const float* b, const float* c);
  void (*max)(float* out, const float* a, const float* b);
  void (*min)(float* out, const float* a, const float* b);
  void (*sqrt)(float* out, const float* a);
  void (*exp)(float* out, const float* a);
  void (*tanh)(float* out, const float* a);
  void (*round_bf16)(float* out, const float* a);
  float (*sum)(const float* a);
  float (*max_lane)(const float* a);
  float (*exp1)(float x);
  float (*log1)(float x);
  void (*tile)(int rows, const float* a, std::int64_t row_stride_a, std::int64_t k_stride_a, const float* b,
               std::int64_t k_stride_b, float* c, std::int64_t row_stride_c, std::int64_t k_count, bool go_on);
};

namespace plain {
const LanesTable& lanes_table();
}
namespace avx2 {
const LanesTable& lanes_table();
}
namespace avx512 {
const LanesTable& lanes_table();
}

}  // namespace maxplus::host
