#include "roles/role_groups.hpp"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

namespace maxplus {

namespace {

std::vector<Communicator> group_of_each_role(const Communicator& world, const RoleMap& map) {
  std::vector<Communicator> groups;
  for (const Role role : kAllRoles)
    groups.push_back(world.split(std::string(name_of(role)) + "s", map.has(role, world.rank()) ? 0 : 1));
  return groups;
}

std::vector<bool> either(const std::vector<bool>& a, const std::vector<bool>& b) {
  std::vector<bool> all(a.size());
  std::transform(a.begin(), a.end(), b.begin(), all.begin(), std::logical_or<bool>());
  return all;
}

std::vector<bool> everybody(const RoleMap& map) {
  return std::vector<bool>(static_cast<std::size_t>(map.ranks()), true);
}

}  // namespace

RoleGroups::RoleGroups(const Communicator& world, RoleMap map)
    : world_(world),
      map_(std::move(map)),
      groups_(group_of_each_role(world, map_)),
      learners_(world.split("learners", learns() ? 0 : 1)),
      rollouts_("rollouts", world, map_.of(Role::generator), everybody(map_)),
      weights_("weights", world, map_.of(Role::actor), map_.of(Role::generator)),
      account_("account", world, map_.of(Role::actor), everybody(map_)),
      critic_copies_("critic copies", world, map_.of(Role::actor), map_.of(Role::critic)),
      reference_copies_("reference copies", world, map_.of(Role::actor), map_.of(Role::reference)),
      references_("reference scores", world, map_.of(Role::reference),
                  either(map_.of(Role::actor), map_.of(Role::critic))),
      values_("values", world, map_.of(Role::critic), map_.of(Role::actor)),
      to_score_("to score", world, map_.of(Role::generator), map_.of(Role::reward)),
      scores_("scores", world, map_.of(Role::reward), map_.of(Role::generator)) {}

double RoleGroups::seconds_communicated() const {
  double seconds = world_.traffic().seconds + learners_.traffic().seconds;
  for (const Communicator& group : groups_) seconds += group.traffic().seconds;
  for (const Relay* relay : {&rollouts_, &weights_, &account_, &critic_copies_, &reference_copies_, &references_,
                             &values_, &to_score_, &scores_})
    seconds += relay->traffic().seconds;
  return seconds;
}

}  // namespace maxplus
