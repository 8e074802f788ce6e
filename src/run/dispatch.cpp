#include "run/dispatch.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/error.hpp"
#include "roles/collected.hpp"

namespace maxplus {

namespace {

struct Entry {
  std::int64_t problem = 0;
  double length = 0;
};

double mean_length(std::span<const Experience> drawn) {
  std::int64_t tokens = 0;
  for (const Experience& experience : drawn) tokens += std::ssize(experience.rollout.token);
  return static_cast<double>(tokens) / static_cast<double>(drawn.size());
}

// Half of the newest; the first is taken as it is.
void move_towards(double newest, double* expected) { *expected = *expected > 0 ? (*expected + newest) / 2 : newest; }

}  // namespace

bool dispatches_longest_first(const Deck& deck) { return deck.generation.dispatch == "longest_first"; }

void LengthsSeen::add(std::span<const Experience> drawn) {
  if (drawn.empty()) return;
  for (const auto& [begin, end] : groups_of(drawn))
    move_towards(mean_length(drawn.subspan(begin, end - begin)), &of_problem_[drawn[begin].problem.id]);
  move_towards(mean_length(drawn), &overall_);
}

double LengthsSeen::expected(std::int64_t problem) const {
  const auto found = of_problem_.find(problem);
  return found == of_problem_.end() ? overall_ : found->second;
}

std::vector<std::byte> LengthsSeen::pack() const {
  if (of_problem_.empty()) return {};
  std::vector<Entry> entries = {{std::ssize(of_problem_), overall_}};
  for (const auto& [problem, length] : of_problem_) entries.push_back({problem, length});
  const std::span<const std::byte> bytes = std::as_bytes(std::span(entries));
  return {bytes.begin(), bytes.end()};
}

LengthsSeen LengthsSeen::unpack(std::span<const std::byte> bytes) {
  LengthsSeen seen;
  if (bytes.empty()) return seen;
  std::vector<Entry> entries(bytes.size() / sizeof(Entry));
  std::memcpy(entries.data(), bytes.data(), entries.size() * sizeof(Entry));
  if (entries.empty() || bytes.size() % sizeof(Entry) != 0 || entries.front().problem != std::ssize(entries) - 1)
    throw Error(ExitCode::protocol, "lengths seen so far do not fit what is said of them");
  seen.overall_ = entries.front().length;
  for (const Entry& entry : std::span(entries).subspan(1)) seen.of_problem_[entry.problem] = entry.length;
  return seen;
}

double expected_tokens(double expected_length, std::int64_t had, std::int64_t budget) {
  const double left = std::max(1.0, expected_length - static_cast<double>(had));
  return budget > 0 ? std::min(left, static_cast<double>(budget)) : left;
}

std::vector<std::int64_t> dealt_longest_first(std::span<const double> work, int rank, int ranks) {
  std::vector<std::int64_t> order(work.size());
  std::iota(order.begin(), order.end(), 0);
  const auto work_of = [work](std::int64_t item) { return work[static_cast<std::size_t>(item)]; };
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) { return work_of(a) > work_of(b); });
  std::vector<double> load(static_cast<std::size_t>(ranks), 0.0);
  std::vector<std::int64_t> mine;
  for (const std::int64_t item : order) {
    const auto least = std::min_element(load.begin(), load.end());
    *least += work_of(item);
    if (least - load.begin() == rank) mine.push_back(item);
  }
  return mine;
}

}  // namespace maxplus
