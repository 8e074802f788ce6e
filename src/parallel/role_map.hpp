#pragma once
// Which ranks have which roles: a pure map that every rank computes alike.
//
// Roles may share ranks (colocated), own them (disaggregated) or do both (hybrid). Ranks that lack what others make
// (rollouts, weights, scores) are dealt to those who have it, so that each gets it once and the givers share the work.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace maxplus {

// In the order in which ranks that have several work for them; the generator also judges, `reward` is the reward model.
enum class Role : std::uint8_t { generator, actor, critic, reference, reward };
inline constexpr std::array kAllRoles = {Role::generator, Role::actor, Role::critic, Role::reference, Role::reward};
const char* name_of(Role role);  // as in [placement]
// Where a role works that has no ranks of its own: the networks beside the policy with those who need what they say.
Role home_of(Role role);

// What a deck asks for: so many ranks, or ranks ("0-5,8"), or a share of all ("75%"). Neither: what others leave.
struct RankRequest {
  std::int64_t count = 0;
  std::string text;
};

struct RoleRequests {
  std::optional<RankRequest> generator = {}, actor = {}, critic = {}, reference = {}, reward = {};
};

class RoleMap {
 public:
  // All roles on all ranks.
  static RoleMap colocated(int ranks);
  // Ranks that are named are taken as they are; counts and shares get the lowest ranks that no other role has taken, in
  // the order of roles: first generator and actor, then the networks beside the policy, which may so name ranks to
  // share. Without a request generator and actor get what is left (both: the same ranks), the others are at home. With
  // no request at all, colocated. Faults have the role's name as their place, and the map is then only good for
  // messages.
  static RoleMap placed(int ranks, const RoleRequests& requests, std::vector<Fault>* faults);

  int ranks() const { return static_cast<int>(of(Role::generator).size()); }
  bool has(Role role, int rank) const { return of(role)[static_cast<std::size_t>(rank)]; }
  const std::vector<bool>& of(Role role) const { return has_[static_cast<std::size_t>(role)]; }  // [rank]
  std::vector<int> ranks_of(Role role) const;
  // The place of a rank among those of a role; of a rank without it: 0.
  int place(Role role, int rank) const;

  bool generates(int rank) const { return has(Role::generator, rank); }
  bool trains(int rank) const { return has(Role::actor, rank); }  // the policy
  std::vector<int> generators() const { return ranks_of(Role::generator); }
  std::vector<int> actors() const { return ranks_of(Role::actor); }
  // Whether a rank works on what has been drawn and judged: actor, critic, reference.
  bool learns(int rank) const;
  bool is_colocated() const;  // every rank has all roles
  // Whether a role works elsewhere than at home.
  bool is_apart(Role role) const { return of(role) != of(home_of(role)); }
  // Whether every rank generates, so that all know how far generation came before they do anything else.
  bool all_generate() const;
  // Whether a rank that learns without generating shares that work with one that generates.
  bool waits_for_drawing(int rank) const;

 private:
  std::array<std::vector<bool>, kAllRoles.size()> has_;
};

// "0-3,6"
std::string rank_list(const std::vector<int>& ranks);

// Ranks of "0-5,8", ascending; nothing if the text is no such list, or names a rank twice.
std::optional<std::vector<int>> parse_rank_list(const std::string& text, int ranks);

// Who gives to whom: ranks that want something and lack it are dealt to its holders in turn. Each group is one giver
// and its takers; a rank that neither holds nor wants is alone.
struct RelayPlan {
  std::vector<int> group;  // of each rank; a holder that gives to nobody is alone in its group
  std::vector<int> giver;  // of each rank: a rank of the world
  int takers = 0;          // in all
};
RelayPlan relay_plan(const std::vector<bool>& holds, const std::vector<bool>& wants);
RelayPlan relay_plan(const std::vector<bool>& holds);  // all want it

}  // namespace maxplus
