#include "plan/fused_makespan.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace maxplus {

double fused_makespan(std::vector<JudgedGroup> groups, double rate) {
  MAXPLUS_REQUIRE(rate > 0, "a judge works at some rate");
  std::sort(groups.begin(), groups.end(),
            [](const JudgedGroup& a, const JudgedGroup& b) { return a.release_s < b.release_s; });
  double end = 0, work = 0;
  for (auto group = groups.rbegin(); group != groups.rend(); ++group) {
    work += group->service_s;
    end = std::max(end, group->release_s + work / rate);
  }
  return end;
}

}  // namespace maxplus
