#pragma once
// Innermost bodies of log-probabilities, one row of logits a call. z = logit * inverse_temperature.

#include <cstdint>

namespace maxplus::host {

struct LogProbTable {
  void (*statistics)(float* maximum, float* log_sum, float* entropy, const float* logits, std::int64_t vocabulary,
                     float inverse_temperature);
  // In place: d_logits without the parts of the targets.
  void (*backward)(float* logits, std::int64_t vocabulary, float maximum, float log_sum, float entropy,
                   float d_log_prob, float d_entropy, float inverse_temperature);
};

namespace plain {
const LogProbTable& logprob_table();
}
namespace avx2 {
const LogProbTable& logprob_table();
}
namespace avx512 {
const LogProbTable& logprob_table();
}

}  // namespace maxplus::host
