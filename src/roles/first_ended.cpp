#include "roles/first_ended.hpp"

#include <algorithm>
#include <vector>

namespace maxplus {

bool has_ended(const Rollout& rollout) { return rollout.finish <= Finish::budget; }

std::optional<std::pair<std::int64_t, std::size_t>> last_that_counts(std::span<const Rollout> group,
                                                                     std::int64_t wanted) {
  std::vector<std::pair<std::int64_t, std::size_t>> ended;
  for (std::size_t place = 0; place < group.size(); ++place) {
    if (has_ended(group[place])) ended.emplace_back(std::ssize(group[place].token), place);
  }
  if (wanted < 1 || std::ssize(ended) < wanted) return std::nullopt;
  const auto last = ended.begin() + static_cast<std::ptrdiff_t>(wanted - 1);
  std::nth_element(ended.begin(), last, ended.end());
  return *last;
}

CompleteAt complete_at(std::span<const Rollout> group, std::int64_t wanted) {
  CompleteAt bounds;
  std::vector<std::int64_t> tokens;
  for (const Rollout& rollout : group) tokens.push_back(std::ssize(rollout.token) + (has_ended(rollout) ? 0 : 1));
  if (wanted >= 1 && wanted <= std::ssize(tokens)) {
    const auto last = tokens.begin() + static_cast<std::ptrdiff_t>(wanted - 1);
    std::nth_element(tokens.begin(), last, tokens.end());
    bounds.at_least = *last;
  }
  if (const auto last = last_that_counts(group, wanted)) bounds.at_most = last->first;
  return bounds;
}

}  // namespace maxplus
