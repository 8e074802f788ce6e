#pragma once
// Problems of several sources as one list, source after source. Each problem says where it is from, under kMixSource
// among its other keys, for records and metrics.

#include <memory>
#include <string>
#include <vector>

#include "data/problem_source.hpp"

namespace maxplus {

inline constexpr const char* kMixSource = "mix_source";

struct MixPart {
  std::string name;
  std::shared_ptr<const ProblemSource> problems;
  std::string verifier;  // of problems that name none; empty: the deck's
};

class ProblemMix final : public ProblemSource {
 public:
  explicit ProblemMix(std::vector<MixPart> parts);
  std::int64_t size() const override { return begin_.back(); }
  Problem at(std::int64_t index) const override;
  std::string where(std::int64_t index) const override;
  std::string hash() const override;

 private:
  std::size_t part_of(std::int64_t index) const;
  std::vector<MixPart> parts_;
  std::vector<std::int64_t> begin_;  // of each part, and the end of all
};

// Some problems of a list.
class ProblemChoice final : public ProblemSource {
 public:
  ProblemChoice(std::shared_ptr<const ProblemSource> problems, std::vector<std::int64_t> chosen)
      : problems_(std::move(problems)), chosen_(std::move(chosen)) {}
  std::int64_t size() const override { return static_cast<std::int64_t>(chosen_.size()); }
  Problem at(std::int64_t index) const override { return problems_->at(chosen_.at(static_cast<std::size_t>(index))); }
  std::string where(std::int64_t index) const override {
    return problems_->where(chosen_.at(static_cast<std::size_t>(index)));
  }
  std::string hash() const override;

 private:
  std::shared_ptr<const ProblemSource> problems_;
  std::vector<std::int64_t> chosen_;
};

// The lists in turn: the first of each, the second of each, …
std::vector<std::int64_t> in_turn(const std::vector<std::int64_t>& sizes);

}  // namespace maxplus
