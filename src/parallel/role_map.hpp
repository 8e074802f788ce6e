#pragma once
// Which ranks generate and which train: a pure map that every rank computes alike.
//
// Roles may share ranks (colocated), own them (disaggregated) or do both (hybrid). Ranks that lack what others make
// (rollouts, weights) are dealt to those who have it, so that each gets it once and the givers share the work.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace maxplus {

// What a deck asks for: so many ranks, or ranks ("0-5,8"), or a share of all ("75%"). Neither: what others leave.
struct RankRequest {
  std::int64_t count = 0;
  std::string text;
};

class RoleMap {
 public:
  // Both roles on all ranks.
  static RoleMap colocated(int ranks);
  // Ranks that are named are taken as they are; counts and shares get the lowest ranks that no other role has taken,
  // the generator first; a role without a request gets what is left. With no request at all, colocated. Faults have the
  // role's name as their place, and the map is then only good for messages.
  static RoleMap placed(int ranks, const std::optional<RankRequest>& generator, const std::optional<RankRequest>& actor,
                        std::vector<Fault>* faults);

  int ranks() const { return static_cast<int>(generates_.size()); }
  bool generates(int rank) const { return generates_[static_cast<std::size_t>(rank)]; }
  bool trains(int rank) const { return trains_[static_cast<std::size_t>(rank)]; }
  std::vector<int> generators() const;
  std::vector<int> actors() const;
  bool is_colocated() const;  // every rank has both roles
  // Whether every rank that trains also generates, so that all know how far generation came before they train.
  bool actors_generate() const;
  // The place of a rank among those of its role, and how many these are; of a rank without the role: 0 and 1.
  int place_among_actors(int rank) const;

 private:
  std::vector<bool> generates_, trains_;
};

// "0-3,6"
std::string rank_list(const std::vector<int>& ranks);

// Ranks of "0-5,8", ascending; nothing if the text is no such list, or names a rank twice.
std::optional<std::vector<int>> parse_rank_list(const std::string& text, int ranks);

// Who gives to whom: ranks without something are dealt to its holders in turn. Each group is one giver and its takers.
struct RelayPlan {
  std::vector<int> group;  // of each rank; a holder that gives to nobody is alone in its group
  std::vector<int> giver;  // of each rank: a rank of the world
  int takers = 0;          // in all
};
RelayPlan relay_plan(const std::vector<bool>& holds);

}  // namespace maxplus
