#pragma once
// Where problems come from: a file or a built-in task, seen as a numbered list. The order of a run is a function of the
// seed and the epoch only (problem_order.hpp), so a source has no cursor and nothing to save.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "rl/sample.hpp"

namespace maxplus {

class ProblemSource {
 public:
  virtual ~ProblemSource() = default;
  virtual std::int64_t size() const = 0;
  virtual Problem at(std::int64_t index) const = 0;         // precondition: 0 <= index < size()
  virtual std::string where(std::int64_t index) const = 0;  // for messages: "problems.jsonl:17"
  virtual std::string hash() const = 0;                     // 32 hex digits; other problems, other hash
};

// Problems held in memory.
class ProblemList final : public ProblemSource {
 public:
  // `name` stands in messages and in the hash; where[i] may be missing.
  ProblemList(std::string name, std::vector<Problem> problems, std::vector<std::string> where);
  std::int64_t size() const override { return static_cast<std::int64_t>(problems_.size()); }
  Problem at(std::int64_t index) const override;
  std::string where(std::int64_t index) const override;
  std::string hash() const override;

 private:
  std::string name_;
  std::vector<Problem> problems_;
  std::vector<std::string> where_;
};

// The longest prompt, for the plan of memory; 0 for an empty source.
std::int64_t longest_prompt(const ProblemSource& source);

}  // namespace maxplus
