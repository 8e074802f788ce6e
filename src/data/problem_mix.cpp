#include "data/problem_mix.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/fingerprint.hpp"

namespace maxplus {

ProblemMix::ProblemMix(std::vector<MixPart> parts) : parts_(std::move(parts)), begin_{0} {
  MAXPLUS_REQUIRE(!parts_.empty(), "a mix of no source");
  for (const MixPart& part : parts_) begin_.push_back(begin_.back() + part.problems->size());
}

std::size_t ProblemMix::part_of(std::int64_t index) const {
  MAXPLUS_REQUIRE(index >= 0 && index < size(), fmt::format("problem {} of {}", index, size()));
  return static_cast<std::size_t>(std::upper_bound(begin_.begin(), begin_.end(), index) - begin_.begin() - 1);
}

Problem ProblemMix::at(std::int64_t index) const {
  const std::size_t p = part_of(index);
  Problem problem = parts_[p].problems->at(index - begin_[p]);
  if (problem.verifier.empty()) problem.verifier = parts_[p].verifier;
  problem.extra[kMixSource] = parts_[p].name;
  return problem;
}

std::string ProblemMix::where(std::int64_t index) const {
  const std::size_t p = part_of(index);
  return parts_[p].problems->where(index - begin_[p]);
}

std::string ProblemMix::hash() const {
  std::string text = "mix";
  for (const MixPart& part : parts_) text += fmt::format("\n{} {} {}", part.problems->hash(), part.verifier, part.name);
  return fingerprint(text);
}

std::string ProblemChoice::hash() const {
  std::string text = "chosen " + problems_->hash();
  for (const std::int64_t index : chosen_) text += fmt::format(" {}", index);
  return fingerprint(text);
}

std::vector<std::int64_t> in_turn(const std::vector<std::int64_t>& sizes) {
  std::vector<std::int64_t> turns;
  const std::int64_t longest = sizes.empty() ? 0 : *std::max_element(sizes.begin(), sizes.end());
  for (std::int64_t i = 0; i < longest; ++i) {
    std::int64_t begin = 0;
    for (const std::int64_t size : sizes) {
      if (i < size) turns.push_back(begin + i);
      begin += size;
    }
  }
  return turns;
}

}  // namespace maxplus
