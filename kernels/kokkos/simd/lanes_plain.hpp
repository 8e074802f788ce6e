#pragma once
// Sixteen lanes as an array, for processors without AVX2. Included by lanes.hpp only.

namespace maxplus::host::MAXPLUS_SIMD {

struct Lanes {
  float lane[16];
};

#define MAXPLUS_EACH_LANE(expression) \
  Lanes result;                       \
  for (int l = 0; l < kLanes; ++l) {  \
    result.lane[l] = (expression);    \
  }                                   \
  return result

MAXPLUS_LANE Lanes load(const float* p) { MAXPLUS_EACH_LANE(p[l]); }
MAXPLUS_LANE Lanes load_part(const float* p, int count, float fill) { MAXPLUS_EACH_LANE(l < count ? p[l] : fill); }
MAXPLUS_LANE void store(float* p, Lanes a) {
  for (int l = 0; l < kLanes; ++l) p[l] = a.lane[l];
}
MAXPLUS_LANE void store_part(float* p, Lanes a, int count) {
  for (int l = 0; l < count; ++l) p[l] = a.lane[l];
}
MAXPLUS_LANE Lanes broadcast(float x) { MAXPLUS_EACH_LANE(x); }
MAXPLUS_LANE Lanes operator+(Lanes a, Lanes b) { MAXPLUS_EACH_LANE(a.lane[l] + b.lane[l]); }
MAXPLUS_LANE Lanes operator-(Lanes a, Lanes b) { MAXPLUS_EACH_LANE(a.lane[l] - b.lane[l]); }
MAXPLUS_LANE Lanes operator*(Lanes a, Lanes b) { MAXPLUS_EACH_LANE(a.lane[l] * b.lane[l]); }
MAXPLUS_LANE Lanes div(Lanes a, Lanes b) { MAXPLUS_EACH_LANE(a.lane[l] / b.lane[l]); }
MAXPLUS_LANE Lanes sqrt(Lanes a) { MAXPLUS_EACH_LANE(__builtin_sqrtf(a.lane[l])); }
MAXPLUS_LANE Lanes fma(Lanes a, Lanes b, Lanes c) { MAXPLUS_EACH_LANE(fma1(a.lane[l], b.lane[l], c.lane[l])); }
MAXPLUS_LANE Lanes max(Lanes a, Lanes b) { MAXPLUS_EACH_LANE(a.lane[l] > b.lane[l] ? a.lane[l] : b.lane[l]); }
MAXPLUS_LANE Lanes min(Lanes a, Lanes b) { MAXPLUS_EACH_LANE(a.lane[l] < b.lane[l] ? a.lane[l] : b.lane[l]); }
MAXPLUS_LANE Lanes select(int count, Lanes a, Lanes b) { MAXPLUS_EACH_LANE(l < count ? a.lane[l] : b.lane[l]); }
MAXPLUS_LANE Lanes round_bf16(Lanes a) { MAXPLUS_EACH_LANE(round_bf16_1(a.lane[l])); }

MAXPLUS_LANE float sum(Lanes a) {
  for (int half = 8; half > 0; half /= 2) {
    for (int l = 0; l < half; ++l) a.lane[l] = a.lane[l] + a.lane[l + half];
  }
  return a.lane[0];
}
MAXPLUS_LANE float max_lane(Lanes a) {
  for (int half = 8; half > 0; half /= 2) {
    for (int l = 0; l < half; ++l) a.lane[l] = a.lane[l] > a.lane[l + half] ? a.lane[l] : a.lane[l + half];
  }
  return a.lane[0];
}

// p * 2^n with n in the low bits of t; zero, infinity and NaN by x.
MAXPLUS_LANE float finish_exp1(float x, float p, float t) {
  float value = from_bits1(bits1(p) + (bits1(t) << 23));
  value = x > ExpConstants::kHighest ? from_bits1(0x7f800000u) : value;
  value = x < ExpConstants::kLowest ? 0.0f : value;
  return x != x ? x : value;
}
MAXPLUS_LANE Lanes finish_exp(Lanes x, Lanes p, Lanes t) {
  MAXPLUS_EACH_LANE(finish_exp1(x.lane[l], p.lane[l], t.lane[l]));
}

#undef MAXPLUS_EACH_LANE

}  // namespace maxplus::host::MAXPLUS_SIMD
