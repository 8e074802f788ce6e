#pragma once
// When judging ends that begins while others are still drawn.

#include <vector>

namespace maxplus {

struct JudgedGroup {
  double release_s = 0;  // when the group has been drawn
  double service_s = 0;  // work of judging it, at rate 1
};

// Of a judge who is never idle while something waits, and works at `rate`, with r_(1) <= ... <= r_(n):
//
//   end = max over i of  r_(i) + (a_(i) + ... + a_(n)) / rate
//
// Exact for a pool whose workers share every group, and for one worker; several workers that take whole groups are at
// best as fast. Without groups 0.
double fused_makespan(std::vector<JudgedGroup> groups, double rate);

}  // namespace maxplus
