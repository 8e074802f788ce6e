#include "parallel/role_map.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

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

class Dealer {
 public:
  Dealer(int ranks, std::vector<Fault>* faults)
      : ranks_(ranks), taken_(static_cast<std::size_t>(ranks)), faults_(faults) {}

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
          fmt::format("{} = \"0-{}\", or start {} ranks", claim.role, ranks_ - 1, ranks_ + count - free));
    }
    take_free(claim, std::min(count, free));
  }

  void take_rest(Claim& claim) {
    if (claim.request) return;
    const std::int64_t free = std::count(taken_.begin(), taken_.end(), false);
    if (free == 0) {
      add(claim, fmt::format("no rank is left for the {}", claim.role),
          fmt::format("{} = the ranks that it shares or has to itself", claim.role),
          fmt::format("{} = \"0-{}\"", claim.role, ranks_ - 1));
    }
    take_free(claim, free);
  }

  void name_idle(const Claim& last) {
    if (!faults_->empty()) return;
    const std::vector<int> idle = [this] {
      std::vector<bool> not_taken = taken_;
      not_taken.flip();
      return ranks_where(not_taken);
    }();
    if (idle.empty()) return;
    add(last,
        fmt::format("no role uses {} {} of {} ranks", idle.size() == 1 ? "rank" : "ranks", rank_list(idle), ranks_),
        "every rank works for the generator, the actor or both",
        fmt::format("give them to a role, or start {} ranks", ranks_ - std::ssize(idle)));
  }

 private:
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
  std::vector<bool> taken_;
  std::vector<Fault>* faults_;
  double shares_ = 0;
  std::int64_t given_ = 0;  // to shares
};

}  // namespace

RoleMap RoleMap::colocated(int ranks) {
  RoleMap map;
  map.generates_.assign(static_cast<std::size_t>(ranks), true);
  map.trains_ = map.generates_;
  return map;
}

RoleMap RoleMap::placed(int ranks, const std::optional<RankRequest>& generator, const std::optional<RankRequest>& actor,
                        std::vector<Fault>* faults) {
  if (!generator && !actor) return colocated(ranks);
  RoleMap map;
  map.generates_.assign(static_cast<std::size_t>(ranks), false);
  map.trains_ = map.generates_;
  std::vector<Fault> found;
  Dealer dealer(ranks, &found);
  Claim generating{"generator", generator, map.generates_}, training{"actor", actor, map.trains_};
  for (Claim* claim : {&generating, &training}) dealer.take_named(*claim);
  for (Claim* claim : {&generating, &training}) dealer.take_counted(*claim);
  for (Claim* claim : {&generating, &training}) dealer.take_rest(*claim);
  dealer.name_idle(actor ? training : generating);
  faults->insert(faults->end(), found.begin(), found.end());
  return map;
}

std::vector<int> RoleMap::generators() const { return ranks_where(generates_); }
std::vector<int> RoleMap::actors() const { return ranks_where(trains_); }

bool RoleMap::is_colocated() const {
  return std::count(generates_.begin(), generates_.end(), false) == 0 &&
         std::count(trains_.begin(), trains_.end(), false) == 0;
}

bool RoleMap::actors_generate() const {
  for (std::size_t r = 0; r < trains_.size(); ++r) {
    if (trains_[r] && !generates_[r]) return false;
  }
  return true;
}

int RoleMap::place_among_actors(int rank) const {
  if (!trains(rank)) return 0;
  return static_cast<int>(std::count(trains_.begin(), trains_.begin() + rank, true));
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

RelayPlan relay_plan(const std::vector<bool>& holds) {
  const std::vector<int> holders = ranks_where(holds);
  MAXPLUS_REQUIRE(!holders.empty(), "somebody has what is given");
  RelayPlan plan;
  plan.group.resize(holds.size());
  plan.giver.resize(holds.size());
  for (std::size_t h = 0; h < holders.size(); ++h) {
    plan.group[static_cast<std::size_t>(holders[h])] = static_cast<int>(h);
    plan.giver[static_cast<std::size_t>(holders[h])] = holders[h];
  }
  for (std::size_t r = 0; r < holds.size(); ++r) {
    if (holds[r]) continue;
    const std::size_t h = static_cast<std::size_t>(plan.takers++) % holders.size();
    plan.group[r] = static_cast<int>(h);
    plan.giver[r] = holders[h];
  }
  return plan;
}

}  // namespace maxplus
