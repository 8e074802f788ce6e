#include "data/repeated_problems.hpp"

#include <unordered_map>

#include <xxhash.h>

#include "base/strings.hpp"
#include "text/utf8.hpp"

namespace maxplus {

namespace {

constexpr std::size_t kFirstListed = 20;

struct PromptKey {
  std::uint64_t low = 0, high = 0;
  bool operator==(const PromptKey&) const = default;
};
struct PromptKeyHash {
  std::size_t operator()(const PromptKey& key) const { return static_cast<std::size_t>(key.low); }
};
using IndexOfPrompt = std::unordered_map<PromptKey, std::int64_t, PromptKeyHash>;

// A prompt that is token ids only is known by these.
PromptKey prompt_key(const Problem& problem) {
  std::string words;
  for (const std::string_view word : split_words(problem.prompt_text)) words.append(word).append(" ");
  words = lower_case(words);
  const bool is_text = !words.empty();
  const void* data = is_text ? static_cast<const void*>(words.data()) : problem.prompt.data();
  const std::size_t bytes = is_text ? words.size() : problem.prompt.size() * sizeof(std::int32_t);
  const XXH128_hash_t value = XXH3_128bits_withSeed(data, bytes, is_text ? 1 : 2);
  return {value.low64, value.high64};
}

void add_repeat(const ProblemSource& problems, std::int64_t index, const ProblemSource& others, std::int64_t other,
                Repeats* repeats) {
  repeats->index.push_back(index);
  if (repeats->first.size() < kFirstListed) repeats->first.emplace_back(problems.where(index), others.where(other));
}

}  // namespace

Repeats repeats_within(const ProblemSource& problems) {
  Repeats repeats;
  IndexOfPrompt seen;
  for (std::int64_t i = 0; i < problems.size(); ++i) {
    const auto [first, fresh] = seen.emplace(prompt_key(problems.at(i)), i);
    if (!fresh) add_repeat(problems, i, problems, first->second, &repeats);
  }
  return repeats;
}

Repeats repeats_between(const ProblemSource& problems, const ProblemSource& others) {
  Repeats repeats;
  IndexOfPrompt known;
  for (std::int64_t i = 0; i < others.size(); ++i) known.emplace(prompt_key(others.at(i)), i);
  for (std::int64_t i = 0; i < problems.size(); ++i) {
    if (const auto found = known.find(prompt_key(problems.at(i))); found != known.end())
      add_repeat(problems, i, others, found->second, &repeats);
  }
  return repeats;
}

}  // namespace maxplus
