#include "roles/weight_sync.hpp"

#include <unistd.h>
#include <array>

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

void hand_off_weights(const Relay& relay, WeightSet& weights, std::int64_t version) {
  if (!relay.is_needed()) return;
  relay.pass(weights.all().data(), weights.all().bytes());
  std::int64_t published = version;
  std::string hash = relay.gives() ? weights.hash() : "";
  relay.pass(&published, sizeof published);
  relay.pass(&hash);
  if (!relay.takes()) return;
  MAXPLUS_REQUIRE(published == version,
                  fmt::format("policy version {} was published where {} was expected", published, version));
  require_same(weights.hash(), hash, fmt::format("the weights of version {}", version));
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
