#include "roles/role_groups.hpp"

#include <utility>

namespace maxplus {

namespace {

std::vector<bool> of_every_rank(const RoleMap& map, bool (RoleMap::*has)(int) const) {
  std::vector<bool> ranks;
  for (int r = 0; r < map.ranks(); ++r) ranks.push_back((map.*has)(r));
  return ranks;
}

}  // namespace

RoleGroups::RoleGroups(const Communicator& world, RoleMap map)
    : world_(world),
      map_(std::move(map)),
      generators_(world.split("generators", generates() ? 0 : 1)),
      actors_(world.split("actors", trains() ? 0 : 1)),
      rollouts_("rollouts", world, of_every_rank(map_, &RoleMap::generates)),
      weights_("weights", world, of_every_rank(map_, &RoleMap::trains)) {}

double RoleGroups::seconds_communicated() const {
  return world_.traffic().seconds + generators_.traffic().seconds + actors_.traffic().seconds +
         rollouts_.traffic().seconds + weights_.traffic().seconds;
}

}  // namespace maxplus
