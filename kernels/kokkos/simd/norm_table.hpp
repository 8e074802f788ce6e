#pragma once
// Innermost bodies of RMS normalisation.

#include <cstdint>

namespace maxplus::host {

struct NormTable {
  // `rows` consecutive rows of C channels.
  void (*forward)(float* out, float* inverse_rms, const float* in, const float* weight, std::int64_t rows,
                  std::int64_t channels, float epsilon);
  void (*backward)(float* d_in, const float* addend, const float* d_out, const float* in, const float* inverse_rms,
                   const float* weight, std::int64_t rows, std::int64_t channels);
  // Without `addend`; d_in may be d_out.
  void (*backward_alone)(float* d_in, const float* d_out, const float* in, const float* inverse_rms,
                         const float* weight, std::int64_t rows, std::int64_t channels);
  // Channels [first, last) of d_weight over all tokens.
  void (*weight_gradient)(float* d_weight, const float* d_out, const float* in, const float* inverse_rms,
                          std::int64_t tokens, std::int64_t channels, std::int64_t first, std::int64_t last);
};

namespace plain {
const NormTable& norm_table();
}
namespace avx2 {
const NormTable& norm_table();
}
namespace avx512 {
const NormTable& norm_table();
}

}  // namespace maxplus::host
