#pragma once
// The world's ranks cut into roles: a communicator for each, and the ways in which rollouts, weights and what networks
// say of rollouts travel between them.

#include <vector>

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
  bool has(Role role) const { return map_.has(role, world_.rank()); }
  bool generates() const { return has(Role::generator); }
  bool trains() const { return has(Role::actor); }
  bool learns() const { return map_.learns(world_.rank()); }
  // To be used by ranks of the role only: others have a group of their own under these names.
  const Communicator& of(Role role) const { return groups_[static_cast<std::size_t>(role)]; }
  const Communicator& generators() const { return of(Role::generator); }
  const Communicator& actors() const { return of(Role::actor); }
  const Communicator& learners() const { return learners_; }  // of ranks that learn: actor, critic, reference
  // From every generator to all ranks that do not generate.
  const Relay& rollouts() const { return rollouts_; }
  // From every actor: the policy to ranks that only generate; what it knows of the run to all that do not train; and
  // the policy as a start to the ranks of a network that is its copy.
  const Relay& weights() const { return weights_; }
  const Relay& account() const { return account_; }
  const Relay& copies(Role role) const { return role == Role::critic ? critic_copies_ : reference_copies_; }
  // What networks say: the reference to actors and critics, the critic to actors.
  const Relay& references() const { return references_; }
  const Relay& values() const { return values_; }
  // To a reward model on ranks of its own, and what it says back.
  const Relay& to_score() const { return to_score_; }
  const Relay& scores() const { return scores_; }
  // The rank that speaks for the job: of those that know what was trained, the first.
  int speaker() const { return map_.actors().front(); }
  bool speaks() const { return world_.rank() == speaker(); }
  double seconds_communicated() const;  // of this rank, in all groups

 private:
  const Communicator& world_;
  RoleMap map_;
  std::vector<Communicator> groups_;  // [role]
  Communicator learners_;
  Relay rollouts_, weights_, account_, critic_copies_, reference_copies_, references_, values_, to_score_, scores_;
};

}  // namespace maxplus
