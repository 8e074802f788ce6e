// See the header.
#include "data/training_order.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"

namespace maxplus {

namespace {

constexpr std::int64_t kFirstMixEpoch = std::int64_t{1} << 40;  // no source has so many, so its shuffles are others
constexpr std::size_t kMostListed = 20;

std::optional<double> difficulty_of(const Problem& problem) {
  const auto found = problem.extra.find("difficulty");
  if (found == problem.extra.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

}  // namespace

std::vector<std::int64_t> shares_of_block(const std::vector<double>& weights) {
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<std::int64_t> shares;
  std::vector<std::pair<double, std::size_t>> remainders;  // the largest first, of equals the first source
  std::int64_t left = kMixBlock;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const double exact = weights[i] / sum * static_cast<double>(kMixBlock);
    shares.push_back(static_cast<std::int64_t>(std::floor(exact)));
    remainders.emplace_back(std::floor(exact) - exact, i);
    left -= shares.back();
  }
  std::sort(remainders.begin(), remainders.end());
  for (std::size_t i = 0; left > 0; ++i, --left) ++shares[remainders[i % remainders.size()].second];
  return shares;
}

std::vector<std::int64_t> easy_first(const ProblemSource& problems) {
  std::vector<double> difficulty;
  std::vector<Fault> faults;
  for (std::int64_t i = 0; i < problems.size() && faults.size() < kMostListed; ++i) {
    const auto number = difficulty_of(problems.at(i));
    if (!number) {
      faults.push_back({problems.where(i), "the problem does not say how difficult it is",
                        "\"difficulty\": a number, in every problem of [data] order = \"curriculum\"",
                        "add it, or name the field with difficulty_key in [data]"});
    }
    difficulty.push_back(number.value_or(0));
  }
  if (!faults.empty()) throw Error(ExitCode::data, std::move(faults));
  std::vector<std::int64_t> ranking(difficulty.size());
  std::iota(ranking.begin(), ranking.end(), 0);
  std::stable_sort(ranking.begin(), ranking.end(), [&difficulty](std::int64_t a, std::int64_t b) {
    return difficulty[static_cast<std::size_t>(a)] < difficulty[static_cast<std::size_t>(b)];
  });
  return ranking;
}

TrainingOrder::TrainingOrder(std::uint64_t seed, Order order, std::int64_t window, std::vector<Part> parts)
    : seed_(seed), order_(order), window_(window), parts_(std::move(parts)) {
  MAXPLUS_REQUIRE(!parts_.empty() && window_ >= 1, "an order of no source");
  if (parts_.size() == 1) return;
  for (std::size_t p = 0; p < parts_.size(); ++p)
    part_of_slot_.insert(part_of_slot_.end(), static_cast<std::size_t>(parts_[p].share), p);
  MAXPLUS_REQUIRE(part_of_slot_.size() == static_cast<std::size_t>(kMixBlock), "shares that do not fill a block");
}

std::int64_t TrainingOrder::at(std::int64_t position) const {
  const Place place = place_of(position);
  std::int64_t before = 0;
  for (std::size_t p = 0; p < place.part; ++p) before += parts_[p].size;
  return before + within(place.part, place.position);
}

TrainingOrder::Place TrainingOrder::place_of(std::int64_t position) const {
  if (parts_.size() == 1) return {0, position};
  const ProblemOrder shuffle(seed_, Purpose::problem_order, kMixBlock, Order::shuffled);
  const std::int64_t block = position / kMixBlock, in_block = position % kMixBlock;
  const auto part_at = [&](std::int64_t i) {
    return part_of_slot_[static_cast<std::size_t>(shuffle.at((kFirstMixEpoch + block) * kMixBlock + i))];
  };
  const std::size_t part = part_at(in_block);
  std::int64_t before = 0;
  for (std::int64_t i = 0; i < in_block; ++i) before += part_at(i) == part ? 1 : 0;
  return {part, block * parts_[part].share + before};
}

std::int64_t TrainingOrder::within(std::size_t part, std::int64_t position) const {
  const Part& p = parts_[part];
  const std::uint64_t seed = seed_ + part;  // equal sizes are shuffled differently
  if (p.ranking.empty()) return ProblemOrder(seed, Purpose::problem_order, p.size, order_).at(position);
  const std::int64_t epoch = position / p.size, rank = position % p.size;
  const std::int64_t windows = (p.size + window_ - 1) / window_, window = rank / window_, begin = window * window_;
  const std::int64_t width = std::min(window_, p.size - begin);
  const ProblemOrder shuffle(seed, Purpose::problem_order, width, Order::shuffled);
  const std::int64_t place = shuffle.at((epoch * windows + window) * width + (rank - begin));
  return p.ranking[static_cast<std::size_t>(begin + place)];
}

}  // namespace maxplus
