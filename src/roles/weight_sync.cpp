#include "roles/weight_sync.hpp"

#include <unistd.h>
#include <array>
#include <cstring>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/fingerprint.hpp"
#include "model/families/family.hpp"
#include "tensor/arena.hpp"

namespace maxplus {

namespace {

std::string this_host() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

void require_same(const std::string& mine, const std::string& of_giver, const std::string& what) {
  if (mine == of_giver) return;
  throw Error(ExitCode::suspect,
              Fault{"", fmt::format("the copy of {} on host {} has the hash {}", what, this_host(), mine), of_giver,
                    "start again without that host; the newest checkpoint is good"});
}

}  // namespace

WeightHandOff::WeightHandOff(const Relay& relay, WeightSet& weights, WeightSet* second, bool overlaps)
    : relay_(relay), weights_(weights), second_(second), overlaps_(overlaps) {
  MAXPLUS_REQUIRE(!overlaps || !relay.takes() || second != nullptr, "a taker has a second set of weights");
}

void WeightHandOff::begin() {
  if (!overlaps_ || begun_ || !relay_.is_needed()) return;
  begun_ = true;
  const TensorView moved = relay_.takes() ? second_->all() : weights_.all();
  arriving_ = relay_.begin_pass(moved.data(), moved.bytes());
  if (relay_.gives()) hash_ = weights_.hash();
}

bool WeightHandOff::has_arrived() { return !begun_ || !relay_.takes() || arriving_.is_done(); }

void WeightHandOff::finish(std::int64_t version) {
  if (!relay_.is_needed()) return;
  begin();
  if (overlaps_) {
    arriving_.wait();
  } else {
    relay_.pass(weights_.all().data(), weights_.all().bytes());
    if (relay_.gives()) hash_ = weights_.hash();
  }
  begun_ = false;
  std::int64_t published = version;
  std::string hash = hash_;
  relay_.pass(&published, sizeof published);
  relay_.pass(&hash);
  if (!relay_.takes()) return;
  MAXPLUS_REQUIRE(published == version,
                  fmt::format("policy version {} was published where {} was expected", published, version));
  if (overlaps_) std::memcpy(weights_.all().data(), second_->all().data(), weights_.all().bytes());
  require_same(weights_.hash(), hash, fmt::format("the weights of version {}", version));
}

void WeightHandOff::abandon() {
  begin();
  arriving_.wait();
  begun_ = false;
}

void hand_off_copy(const Relay& relay, const ModelConfig& config, const WeightSet* policy, WeightSet* copy,
                   std::uint64_t seed) {
  if (!relay.gives() && !relay.takes()) return;
  Arena counted("names");
  const WeightSet plan(config, counted);
  Fingerprint fingerprint;
  for (const Parameter& wanted : plan.parameters()) {
    if (wanted.name == kScoreWeight) continue;  // each network's own
    const Parameter* const mine = (relay.gives() ? policy : copy)->find(wanted.name);
    MAXPLUS_REQUIRE(mine != nullptr && mine->global_extents == wanted.global_extents, "networks of one shape");
    relay.pass(mine->weight.data(), mine->weight.bytes());
    fingerprint.add(mine->weight.data(), mine->weight.bytes());
  }
  std::string hash = fingerprint.text();
  relay.pass(&hash);
  if (!relay.takes()) return;
  require_same(fingerprint.text(), hash, "the policy");
  if (config.value_head) copy->initialise_value_head(seed);
}

}  // namespace maxplus
