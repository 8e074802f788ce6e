#include "roles/relay.hpp"

#include <cstdint>
#include <utility>

namespace maxplus {

Relay::Relay(std::string name, const Communicator& world, const std::vector<bool>& holds,
             const std::vector<bool>& wants)
    : Relay(std::move(name), world, holds, relay_plan(holds, wants)) {}

Relay::Relay(std::string name, const Communicator& world, const std::vector<bool>& holds, const RelayPlan& plan)
    : group_(plan.takers > 0 ? world.split(std::move(name), plan.group[static_cast<std::size_t>(world.rank())])
                             : Communicator::self(std::move(name))),
      needed_(plan.takers > 0) {
  const auto me = static_cast<std::size_t>(world.rank());
  takes_ = plan.giver[me] != world.rank();
  gives_ = holds[me] && group_.size() > 1;
  // Members of a group stand in the order of the world.
  for (int r = 0; r < plan.giver[me]; ++r) giver_ += plan.group[static_cast<std::size_t>(r)] == plan.group[me] ? 1 : 0;
}

void Relay::pass(void* data, std::size_t bytes) const {
  if (group_.size() > 1) group_.broadcast(data, bytes, giver_);
}

Pending Relay::begin_pass(void* data, std::size_t bytes) const {
  return group_.size() > 1 ? group_.begin_broadcast(data, bytes, giver_) : Pending();
}

void Relay::pass(std::vector<std::byte>* bytes) const {
  std::uint64_t count = bytes->size();
  pass(&count, sizeof count);
  bytes->resize(count);
  pass(bytes->data(), count);
}

void Relay::pass(std::string* text) const {
  std::uint64_t count = text->size();
  pass(&count, sizeof count);
  text->resize(count);
  pass(text->data(), count);
}

}  // namespace maxplus
