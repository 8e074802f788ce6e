#pragma once
// A round in which more problems are begun than are wanted: ranks tell each other when those they draw are complete, so
// that none goes on with a problem that cannot be among the first any more.
//
// It only saves work: who is first follows from the lengths, whatever is stopped and when. Ranks that draw meet after
// every so many decoding steps, those that are done as often as it takes until all are.

#include <cstdint>
#include <span>
#include <vector>

#include "comm/communicator.hpp"
#include "roles/generator.hpp"

namespace maxplus {

class Race {
 public:
  static constexpr std::int64_t kStepsBetween = 16;

  // `requests` of this rank, with the number of rollouts that are wanted of each; of the round `problems` are wanted.
  Race(const Communicator& ranks, Generator& generator, std::span<const GenerationRequest> requests,
       std::int64_t problems);

  void look();                                  // between decoding steps
  void finish(std::span<const Rollout> drawn);  // collective; what the generator returned

 private:
  // Collective: whether some rank draws.
  bool meet(bool draws);

  const Communicator& ranks_;
  Generator& generator_;
  std::span<const GenerationRequest> requests_;
  std::int64_t problems_, looks_ = 0;
  std::vector<std::int64_t> complete_at_;  // of each request, as far as it is known
};

}  // namespace maxplus
