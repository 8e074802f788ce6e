// Problems in memory, and what is checked of any source before a run starts.
#include "data/problem_source.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/fingerprint.hpp"

namespace maxplus {

ProblemList::ProblemList(std::string name, std::vector<Problem> problems, std::vector<std::string> where)
    : name_(std::move(name)), problems_(std::move(problems)), where_(std::move(where)) {}

Problem ProblemList::at(std::int64_t index) const {
  MAXPLUS_REQUIRE(index >= 0 && index < size(), fmt::format("problem {} of {}", index, size()));
  return problems_[static_cast<std::size_t>(index)];
}

std::string ProblemList::where(std::int64_t index) const {
  const auto i = static_cast<std::size_t>(index);
  return i < where_.size() ? where_[i] : fmt::format("{}, problem {}", name_, index);
}

std::string ProblemList::hash() const {
  Fingerprint hash;
  const auto add = [&hash](const void* data, std::size_t bytes) {
    const std::uint64_t length = bytes;
    hash.add(&length, sizeof length);
    hash.add(data, bytes);
  };
  for (const Problem& problem : problems_) {
    add(&problem.id, sizeof problem.id);
    add(problem.prompt.data(), problem.prompt.size() * sizeof(std::int32_t));
    for (const std::string& text :
         {problem.prompt_text, problem.verifier, problem.answer.dump(), problem.extra.dump()}) {
      add(text.data(), text.size());
    }
  }
  return hash.text();
}

std::int64_t longest_prompt(const ProblemSource& source) {
  std::int64_t longest = 0;
  for (std::int64_t i = 0; i < source.size(); ++i) {
    longest = std::max(longest, static_cast<std::int64_t>(source.at(i).prompt.size()));
  }
  return longest;
}

}  // namespace maxplus
