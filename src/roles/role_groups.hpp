#pragma once
// The world's ranks cut into roles: a communicator for each, and the ways in which rollouts and weights travel between
// them.

#include "comm/communicator.hpp"
#include "parallel/role_map.hpp"
#include "roles/relay.hpp"

namespace maxplus {

class RoleGroups {
 public:
  // Collective. `world` must outlive this.
  RoleGroups(const Communicator& world, RoleMap map);

  const RoleMap& map() const { return map_; }
  const Communicator& world() const { return world_; }
  bool generates() const { return map_.generates(world_.rank()); }
  bool trains() const { return map_.trains(world_.rank()); }
  // To be used by ranks of the role only: others have a group of their own under these names.
  const Communicator& generators() const { return generators_; }
  const Communicator& actors() const { return actors_; }
  // From every generator to the ranks that do not generate, and from every actor to the ranks that do not train.
  const Relay& rollouts() const { return rollouts_; }
  const Relay& weights() const { return weights_; }
  // The rank that speaks for the job: of those that know what was trained, the first.
  int speaker() const { return map_.actors().front(); }
  bool speaks() const { return world_.rank() == speaker(); }
  double seconds_communicated() const;  // of this rank, in all groups

 private:
  const Communicator& world_;
  RoleMap map_;
  Communicator generators_, actors_;
  Relay rollouts_, weights_;
};

}  // namespace maxplus
