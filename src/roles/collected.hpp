#pragma once
// One iteration's judged rollouts, as they go from the ranks that draw to those that train, and wait between them; and
// those that were parked in it, which are to go on in the next.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "rl/sample.hpp"

namespace maxplus {

struct Collected {
  std::vector<Experience> experiences;  // in rollout order, the same on every rank
  std::vector<std::uint8_t>
      dropped;                     // 1: a rollout that is not trained on, its group had no spread or was one too many
  std::vector<Experience> parked;  // whole groups, not judged: a member has not ended. Likewise ordered
  // Problems that were begun and are drawn later, as places in the run's order.
  std::vector<std::int64_t> deferred = {};
  struct Facts {
    std::int64_t iteration = 0;  // that it is for
    std::int64_t groups = 0, groups_zero_spread = 0, groups_dropped = 0, rollouts_dropped = 0;
    std::int64_t problems_taken = 0;  // from the run's order
    std::int64_t tokens_generated = 0, tokens_processed = 0;
    std::int64_t decode_steps = 0;     // of the rank that took most, over all rounds
    std::int64_t problems_listed = 0;  // from the list of long problems
    std::int64_t groups_deferred = 0, rollouts_surplus = 0, tokens_surplus = 0;  // begun and not trained on
    std::int64_t groups_parked = 0, rollouts_parked = 0;  // rollouts that go on, groups that wait for them
    double seconds_generation = 0, seconds_assessment = 0, tail_share = 0;
    double seconds_drawing = 0;  // from the first draw to the last verdict, of all rounds
    std::int64_t abandoned = 0;  // 1: a stop was asked for; nothing of this may be used
  } facts;
  bool abandoned() const { return facts.abandoned != 0; }
};

// Exact in every bit; for the way between ranks and for checkpoints. Throws Error(protocol) on damage.
std::vector<std::byte> pack_collected(std::span<const Collected> list);
std::vector<Collected> unpack_collected(std::span<const std::byte> bytes);

// [begin, end) of every group in a list in rollout order.
std::vector<std::pair<std::size_t, std::size_t>> groups_of(std::span<const Experience> experiences);

}  // namespace maxplus
