#include "parallel/role_map.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <initializer_list>
#include <iterator>
#include <set>
#include <span>

#include <fmt/format.h>

#include "base/strings.hpp"

namespace maxplus {

namespace {

constexpr std::int64_t kMostRanks = 1 << 20;

std::vector<int> ranks_where(const std::vector<bool>& has) {
  std::vector<int> ranks;
  for (std::size_t r = 0; r < has.size(); ++r) {
    if (has[r]) ranks.push_back(static_cast<int>(r));
  }
  return ranks;
}

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || error != std::errc() || stop != end || value < 0 || value > kMostRanks) return std::nullopt;
  return value;
}

// 0 < share <= 1 of "75%".
std::optional<double> parse_share(const std::string& text) {
  if (text.empty() || text.back() != '%') return std::nullopt;
  double percent = 0;
  const char* const end = text.data() + text.size() - 1;
  const auto [stop, error] = std::from_chars(text.data(), end, percent);
  if (error != std::errc() || stop != end || !(percent > 0) || percent > 100) return std::nullopt;
  return percent / 100;
}

// One role while ranks are dealt.
struct Claim {
  const char* role;
  const std::optional<RankRequest>& request;
  std::vector<bool>& has;
  std::string written() const {
    return request->count > 0 ? fmt::format("{}", request->count) : quote(shorten(request->text, 60));
  }
};

// How many ranks these ask for together, where none is a share and none asks for more than there can be.
std::optional<std::int64_t> enough_ranks(std::span<const Claim> claims) {
  std::int64_t counted = 0;
  std::set<int> named;
  for (const Claim& claim : claims) {
    if (!claim.request) continue;
    if (claim.request->count > kMostRanks || parse_share(claim.request->text)) return std::nullopt;
    counted += claim.request->count;
    if (claim.request->count > 0) continue;
    const auto ranks = parse_rank_list(claim.request->text, static_cast<int>(kMostRanks));
    if (ranks) named.insert(ranks->begin(), ranks->end());
  }
  if (!claims[0].request || !claims[1].request) ++counted;  // what is left for generator or actor
  const std::int64_t all = std::ssize(named) + counted;
  return named.empty() ? all : std::max<std::int64_t>(all, *named.rbegin() + 1);
}

class Dealer {
 public:
  // `enough`: ranks with which all claims would be met, where that is known.
  Dealer(int ranks, std::optional<std::int64_t> enough, std::vector<Fault>* faults)
      : ranks_(ranks), enough_(enough), taken_(static_cast<std::size_t>(ranks)), faults_(faults) {}

  // Ranks by name come before those by number, whatever the order in the deck.
  void take_named(Claim& claim) {
    if (!claim.request || claim.request->count > 0 || parse_share(claim.request->text)) return;
    const std::optional<std::vector<int>> named = parse_rank_list(claim.request->text, static_cast<int>(kMostRanks));
    if (!named) {
      add(claim, fmt::format("{} = {} names no ranks", claim.role, claim.written()),
          "ranks as \"0-5\" or \"0-2,6\", each once and ascending within a range, a number of them, or a share as "
          "\"75%\"",
          fmt::format("{} = \"0-{}\"", claim.role, ranks_ - 1));
      return;
    }
    std::vector<int> beyond;
    for (const int rank : *named) {
      if (rank >= ranks_) {
        beyond.push_back(rank);
      } else {
        claim.has[static_cast<std::size_t>(rank)] = taken_[static_cast<std::size_t>(rank)] = true;
      }
    }
    if (beyond.empty()) return;
    add(claim,
        fmt::format("{} = {} names {} {}, and {}", claim.role, claim.written(), beyond.size() == 1 ? "rank" : "ranks",
                    rank_list(beyond), there_are()),
        fmt::format("ranks from 0 to {}", ranks_ - 1),
        fmt::format("start {} ranks, or name others", beyond.back() + 1));
  }

  void take_counted(Claim& claim) {
    if (!claim.request) return;
    std::int64_t count = claim.request->count;
    if (const std::optional<double> share = parse_share(claim.request->text); count == 0 && share) {
      // Shares are rounded together, so that "50%" twice is all ranks whatever their number.
      constexpr double kRounding = 1e-9;
      shares_ += *share;
      const auto until = static_cast<std::int64_t>(std::floor(shares_ * ranks_ + kRounding));
      count = std::max<std::int64_t>(1, until - given_);
      given_ += count;
    }
    if (count == 0) return;
    const std::int64_t free = std::count(taken_.begin(), taken_.end(), false);
    if (count > free) {
      add(claim,
          fmt::format("{} = {} asks for {} {}, and {} of {} are free", claim.role, claim.written(), count,
                      count == 1 ? "rank" : "ranks", free, ranks_),
          "roles that share ranks name them; a number takes ranks that no other role has",
          fmt::format("{} = \"0-{}\"{}", claim.role, ranks_ - 1, or_more_ranks()));
    }
    take_free(claim, std::min(count, free));
  }

  // Those without a request share what is left.
  void take_rest(std::initializer_list<Claim*> claims) {
    const std::vector<int> free = free_ranks();
    const bool follows = !faults_->empty();  // from what was found before
    for (Claim* claim : claims) {
      if (claim->request) continue;
      if (free.empty() && !follows) {
        add(*claim, fmt::format("no rank is left for the {}", claim->role),
            fmt::format("{} = the ranks that it shares or has to itself", claim->role),
            fmt::format("{} = \"0-{}\"", claim->role, ranks_ - 1));
      }
      for (const int rank : free)
        claim->has[static_cast<std::size_t>(rank)] = taken_[static_cast<std::size_t>(rank)] = true;
    }
  }

  void name_idle(const Claim& last) {
    if (!faults_->empty()) return;
    const std::vector<int> idle = free_ranks();
    if (idle.empty()) return;
    add(last,
        fmt::format("no role uses {} {} of {} ranks", idle.size() == 1 ? "rank" : "ranks", rank_list(idle), ranks_),
        "every rank has a role", fmt::format("give them to a role, or start {} ranks", ranks_ - std::ssize(idle)));
  }

 private:
  std::vector<int> free_ranks() const {
    std::vector<bool> not_taken = taken_;
    not_taken.flip();
    return ranks_where(not_taken);
  }
  std::string or_more_ranks() const {
    if (!enough_ || *enough_ <= ranks_) return "";
    return fmt::format(", or start {0} ranks (with --check: --ranks {0})", *enough_);
  }
  std::string there_are() const { return ranks_ == 1 ? "there is 1 rank" : fmt::format("there are {} ranks", ranks_); }
  void add(const Claim& claim, std::string found, std::string expected, std::string advice) {
    faults_->push_back({claim.role, "[placement] " + std::move(found), std::move(expected), std::move(advice)});
  }
  void take_free(Claim& claim, std::int64_t count) {
    for (std::size_t r = 0; r < taken_.size() && count > 0; ++r) {
      if (taken_[r]) continue;
      claim.has[r] = taken_[r] = true;
      --count;
    }
  }

  int ranks_;
  std::optional<std::int64_t> enough_;
  std::vector<bool> taken_;
  std::vector<Fault>* faults_;
  double shares_ = 0;
  std::int64_t given_ = 0;  // to shares
};

}  // namespace

const char* name_of(Role role) {
  switch (role) {
    case Role::generator: return "generator";
    case Role::actor: return "actor";
    case Role::critic: return "critic";
    case Role::reference: return "reference";
    case Role::reward: return "reward";
  }
  return "";
}

Role home_of(Role role) {
  switch (role) {
    case Role::critic:
    case Role::reference: return Role::actor;
    case Role::reward: return Role::generator;
    case Role::generator:
    case Role::actor: break;
  }
  return role;
}

RoleMap RoleMap::colocated(int ranks) {
  RoleMap map;
  for (std::vector<bool>& has : map.has_) has.assign(static_cast<std::size_t>(ranks), true);
  return map;
}

RoleMap RoleMap::placed(int ranks, const RoleRequests& requests, std::vector<Fault>* faults) {
  const std::optional<RankRequest>* const request[] = {&requests.generator, &requests.actor, &requests.critic,
                                                       &requests.reference, &requests.reward};
  if (std::none_of(std::begin(request), std::end(request), [](const auto* asked) { return asked->has_value(); }))
    return colocated(ranks);
  RoleMap map;
  std::vector<Claim> claims;
  for (const Role role : kAllRoles) {
    const auto place = static_cast<std::size_t>(role);
    map.has_[place].assign(static_cast<std::size_t>(ranks), false);
    claims.push_back({name_of(role), *request[place], map.has_[place]});
  }
  std::vector<Fault> found;
  const std::span<Claim> all(claims);
  Dealer dealer(ranks, enough_ranks(all), &found);
  for (const std::span<Claim> part : {all.first(2), all.subspan(2)}) {
    for (Claim& claim : part) dealer.take_named(claim);
    for (Claim& claim : part) dealer.take_counted(claim);
  }
  dealer.take_rest({&claims[0], &claims[1]});
  dealer.name_idle(claims[1]);
  for (const Role role : {Role::critic, Role::reference, Role::reward}) {
    const auto place = static_cast<std::size_t>(role);
    if (!*request[place]) map.has_[place] = map.of(home_of(role));
  }
  faults->insert(faults->end(), found.begin(), found.end());
  return map;
}

std::vector<int> RoleMap::ranks_of(Role role) const { return ranks_where(of(role)); }

int RoleMap::place(Role role, int rank) const {
  if (!has(role, rank)) return 0;
  return static_cast<int>(std::count(of(role).begin(), of(role).begin() + rank, true));
}

bool RoleMap::learns(int rank) const {
  return has(Role::actor, rank) || has(Role::critic, rank) || has(Role::reference, rank);
}

bool RoleMap::is_colocated() const {
  return std::all_of(has_.begin(), has_.end(),
                     [](const std::vector<bool>& has) { return std::count(has.begin(), has.end(), false) == 0; });
}

bool RoleMap::all_generate() const { return std::ssize(generators()) == ranks(); }

bool RoleMap::waits_for_drawing(int rank) const {
  if (generates(rank)) return false;
  for (const Role role : {Role::actor, Role::critic, Role::reference}) {
    for (int other = 0; has(role, rank) && other < ranks(); ++other) {
      if (has(role, other) && generates(other)) return true;
    }
  }
  return false;
}

std::string rank_list(const std::vector<int>& ranks) {
  std::vector<std::string> parts;
  for (std::size_t first = 0, last = 0; first < ranks.size(); first = last + 1) {
    last = first;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    parts.push_back(first == last ? fmt::format("{}", ranks[first]) : fmt::format("{}-{}", ranks[first], ranks[last]));
  }
  return join(parts, ",");
}

std::optional<std::vector<int>> parse_rank_list(const std::string& text, int ranks) {
  std::vector<int> all;
  for (const std::string& part : split(text, ',')) {
    const std::string range(trim(part));
    const std::size_t dash = range.find('-');
    const std::optional<std::int64_t> first = whole_number(range.substr(0, dash));
    const std::optional<std::int64_t> last = dash == std::string::npos ? first : whole_number(range.substr(dash + 1));
    if (!first || !last || *last < *first || *last >= ranks) return std::nullopt;
    for (std::int64_t rank = *first; rank <= *last; ++rank) all.push_back(static_cast<int>(rank));
  }
  std::sort(all.begin(), all.end());
  if (std::adjacent_find(all.begin(), all.end()) != all.end()) return std::nullopt;
  return all;
}

RelayPlan relay_plan(const std::vector<bool>& holds, const std::vector<bool>& wants) {
  const std::vector<int> holders = ranks_where(holds);
  MAXPLUS_REQUIRE(!holders.empty(), "somebody has what is given");
  RelayPlan plan;
  plan.group.resize(holds.size());
  plan.giver.resize(holds.size());
  for (std::size_t h = 0; h < holders.size(); ++h) {
    plan.group[static_cast<std::size_t>(holders[h])] = static_cast<int>(h);
    plan.giver[static_cast<std::size_t>(holders[h])] = holders[h];
  }
  int alone = static_cast<int>(holders.size());
  for (std::size_t r = 0; r < holds.size(); ++r) {
    if (holds[r]) continue;
    if (!wants[r]) {
      plan.group[r] = alone++;
      plan.giver[r] = static_cast<int>(r);
      continue;
    }
    const std::size_t h = static_cast<std::size_t>(plan.takers++) % holders.size();
    plan.group[r] = static_cast<int>(h);
    plan.giver[r] = holders[h];
  }
  return plan;
}

RelayPlan relay_plan(const std::vector<bool>& holds) {
  return relay_plan(holds, std::vector<bool>(holds.size(), true));
}

}  // namespace maxplus
