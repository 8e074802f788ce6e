#include "roles/weight_sync.hpp"

#include <unistd.h>
#include <array>

#include <fmt/format.h>

#include "base/error.hpp"

namespace maxplus {

namespace {

std::string this_host() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
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
  if (const std::string mine = weights.hash(); mine != hash) {
    throw Error(ExitCode::suspect, Fault{"",
                                         fmt::format("the copy of the weights of version {} on host {} has the hash {}",
                                                     version, this_host(), mine),
                                         hash, "start again without that host; the newest checkpoint is good"});
  }
}

}  // namespace maxplus
