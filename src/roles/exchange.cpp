#include "roles/exchange.hpp"

#include <algorithm>

namespace maxplus {

std::vector<Experience> exchange_experiences(const Communicator& ranks, const std::vector<Experience>& mine) {
  std::vector<Experience> all;
  if (ranks.size() == 1) {
    all = mine;
  } else {
    const std::vector<std::byte> bytes = pack(mine);
    for (const std::vector<std::byte>& part : ranks.gather_all(bytes)) {
      std::vector<Experience> theirs = unpack(part.data(), part.size());
      std::move(theirs.begin(), theirs.end(), std::back_inserter(all));
    }
  }
  std::sort(all.begin(), all.end(),
            [](const Experience& a, const Experience& b) { return a.rollout.id < b.rollout.id; });
  return all;
}

std::vector<std::int64_t> dealt_to_rank(std::int64_t count, int rank, int ranks) {
  std::vector<std::int64_t> mine;
  for (std::int64_t i = rank; i < count; i += ranks) mine.push_back(i);
  return mine;
}

}  // namespace maxplus
