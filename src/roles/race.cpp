#include "roles/race.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.hpp"
#include "roles/first_ended.hpp"

namespace maxplus {

namespace {

struct Complete {
  std::int64_t tokens = 0, slot = 0;
  auto operator<=>(const Complete&) const = default;
};

}  // namespace

Race::Race(const Communicator& ranks, Generator& generator, std::span<const GenerationRequest> requests,
           std::int64_t problems)
    : ranks_(ranks),
      generator_(generator),
      requests_(requests),
      problems_(problems),
      complete_at_(requests.size(), kNotYet) {}

void Race::look() {
  if (++looks_ % kStepsBetween != 0) return;
  for (std::size_t i = 0; i < requests_.size(); ++i) complete_at_[i] = generator_.complete_at_bounds(i).at_most;
  meet(true);
}

void Race::finish(std::span<const Rollout> drawn) {
  std::size_t first = 0;
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    const std::size_t members = requests_[i].ids.size();
    complete_at_[i] = complete_at(drawn.subspan(first, members), requests_[i].wanted).at_most;
    first += members;
  }
  while (meet(false)) {
  }
}

bool Race::meet(bool draws) {
  // The first line tells whether the rank draws.
  std::vector<Complete> mine = {{draws ? 1 : 0, 0}};
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    if (complete_at_[i] != kNotYet) mine.push_back({complete_at_[i], requests_[i].ids.front().slot});
  }
  bool some_draws = false;
  std::vector<Complete> all;
  for (const std::vector<std::byte>& bytes : ranks_.gather_all(std::as_bytes(std::span(mine)))) {
    std::vector<Complete> theirs(bytes.size() / sizeof(Complete));
    if (theirs.empty()) throw Error(ExitCode::protocol, "a rank tells nothing of its problems");
    std::memcpy(theirs.data(), bytes.data(), theirs.size() * sizeof(Complete));
    some_draws = some_draws || theirs.front().tokens != 0;
    all.insert(all.end(), theirs.begin() + 1, theirs.end());
  }
  if (!draws || std::ssize(all) < problems_) return some_draws;
  const auto last = all.begin() + static_cast<std::ptrdiff_t>(problems_ - 1);
  std::nth_element(all.begin(), last, all.end());
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    const Complete earliest{generator_.complete_at_bounds(i).at_least, requests_[i].ids.front().slot};
    if (earliest > *last) generator_.give_up(i);
  }
  return some_draws;
}

}  // namespace maxplus
