#pragma once
// The weight hand-off: from the ranks that train to those that generate without training. On ranks that do both
// nothing moves. With two buffers it goes on behind the drawing (double buffering; PipelineRL, 2025, arXiv:2509.19128,
// stops drawing for it).

#include <cstdint>
#include <string>

#include "comm/pending.hpp"
#include "model/transformer.hpp"
#include "roles/relay.hpp"

namespace maxplus {

// Of every version to the ranks that `relay` joins (holders: those that train).
class WeightHandOff {
 public:
  // `second`: a set of the same shape, into which a taker's weights come while it still draws with those of before;
  // null on givers. `overlaps`, equal on all: whether they come so, or all at once in finish(). All must outlive this.
  WeightHandOff(const Relay& relay, WeightSet& weights, WeightSet* second, bool overlaps);

  // A taker is ready for the next version, a giver has it and leaves it as it is until finish(). Once a version; later
  // calls do nothing, nor do any where nothing overlaps.
  void begin();
  // Whether all is here, or nothing has begun; true on givers. Asking moves it on.
  bool has_arrived();
  // Collective. Afterwards every rank has the weights of the policy version `version`, which its own count of versions
  // must equal; a taker whose copy does not have the giver's hash is Error(suspect) that names its host. Packed copies
  // of the weights are the caller's to make.
  void finish(std::int64_t version);
  // Instead of finish(), on all ranks of the relay: what has begun is waited for and forgotten.
  void abandon();

 private:
  const Relay& relay_;
  WeightSet& weights_;
  WeightSet* second_;
  bool overlaps_, begun_ = false;
  Pending arriving_;
  std::string hash_;  // of a giver's weights that are on their way
};

// Collective over the ranks that the relay joins (holders: those that train). A network `copy` that takes gets the
// weights of `policy` under its names, and `seed` starts its value head. `config` is the copy's; `policy` and `copy`
// are null on ranks that lack them.
void hand_off_copy(const Relay& relay, const ModelConfig& config, const WeightSet* policy, WeightSet* copy,
                   std::uint64_t seed);

}  // namespace maxplus
