#include "rl/packing.hpp"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "base/error.hpp"

namespace maxplus {

namespace {

std::int64_t count(const std::vector<std::int32_t>& tokens) { return static_cast<std::int64_t>(tokens.size()); }

std::int64_t fed_response_tokens(const Experience& e) { return std::max<std::int64_t>(count(e.rollout.token) - 1, 0); }

bool shares_prompt(const Experience& a, const Experience& b) {
  return a.rollout.group == b.rollout.group && a.problem.prompt == b.problem.prompt;
}

// Shorter beginnings are not worth a segment.
constexpr std::int64_t kLeastCommon = 16;

// How many first tokens all prompts of a step have in common, so that each has at least one of its own; 0 if there is
// but one prompt, or too few.
std::int64_t common_tokens(std::span<const Experience* const> step) {
  if (step.empty()) return 0;
  const std::vector<std::int32_t>& first = step.front()->problem.prompt;
  std::int64_t common = count(first);
  bool differ = false;
  for (std::size_t i = 1; i < step.size(); ++i) {
    if (shares_prompt(*step[i - 1], *step[i])) continue;
    differ = true;
    common = common_beginning(first, step[i]->problem.prompt, common);
  }
  return differ && common >= kLeastCommon ? common : 0;
}

// start[i] is the number of tokens before rollout i if the whole step were one batch, the common ones left out;
// start[n] the total.
std::vector<std::int64_t> running_tokens(std::span<const Experience* const> step, std::int64_t common) {
  std::vector<std::int64_t> start(1, 0);
  for (std::size_t i = 0; i < step.size(); ++i) {
    const bool shared = i > 0 && shares_prompt(*step[i - 1], *step[i]);
    start.push_back(start.back() + fed_response_tokens(*step[i]) +
                    (shared ? 0 : count(step[i]->problem.prompt) - common));
  }
  return start;
}

// cut[s] is the first rollout of slice s by the rule of the middle; cut[slices] = n.
std::vector<std::int64_t> cuts_by_middle(const std::vector<std::int64_t>& start, int slices) {
  const std::int64_t rollouts = static_cast<std::int64_t>(start.size()) - 1;
  const std::int64_t total = start.back();
  std::vector<std::int64_t> cut(static_cast<std::size_t>(slices) + 1, rollouts);
  cut[0] = 0;
  int filled = 0;
  for (std::int64_t i = 0; i < rollouts; ++i) {
    const std::int64_t twice_middle = start[static_cast<std::size_t>(i)] + start[static_cast<std::size_t>(i) + 1];
    const std::int64_t slice = total == 0 ? 0 : std::min<std::int64_t>(twice_middle * slices / (2 * total), slices - 1);
    while (filled < slice) cut[static_cast<std::size_t>(++filled)] = i;
  }
  return cut;
}

void snap_to_groups(std::span<const Experience* const> step, const std::vector<std::int64_t>& start, int slices,
                    GroupCut allowed, std::vector<std::int64_t>& cut) {
  std::vector<std::int64_t> boundary = {0};
  for (std::size_t i = 1; i < step.size(); ++i) {
    if (step[i]->rollout.group != step[i - 1]->rollout.group) boundary.push_back(static_cast<std::int64_t>(i));
  }
  boundary.push_back(static_cast<std::int64_t>(step.size()));
  const std::int64_t total = start.back();
  for (std::size_t s = 1; s + 1 < cut.size(); ++s) {
    const std::int64_t here = start[static_cast<std::size_t>(cut[s])];
    const auto distance = [&](std::int64_t b) { return std::abs(start[static_cast<std::size_t>(b)] - here); };
    const std::int64_t nearest =
        *std::min_element(boundary.begin(), boundary.end(), [&](auto a, auto b) { return distance(a) < distance(b); });
    if (allowed == GroupCut::between || 4 * slices * distance(nearest) <= total) cut[s] = nearest;
  }
}

// A unit is a rollout, or a whole group where none may be cut.
std::vector<RolloutList> micro_batches(std::span<const Experience* const> step, std::int64_t first, std::int64_t last,
                                       std::int64_t common, std::int64_t micro_batch_tokens, GroupCut allowed) {
  std::vector<RolloutList> list;
  std::int64_t held = 0;
  const auto at = [&](std::int64_t i) -> const Experience& { return *step[static_cast<std::size_t>(i)]; };
  for (std::int64_t begin = first; begin < last;) {
    std::int64_t end = begin + 1;
    while (allowed == GroupCut::between && end < last && at(end).rollout.group == at(begin).rollout.group) ++end;
    std::int64_t alone = common, more = 0;  // tokens as the first of a micro-batch, and behind what it holds
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t prompt = count(at(i).problem.prompt) - common, response = fed_response_tokens(at(i));
      const bool shared = i > begin && shares_prompt(at(i - 1), at(i));
      const bool follows = shared || (i == begin && !list.empty() && shares_prompt(at(i - 1), at(i)));
      alone += response + (shared ? 0 : prompt);
      more += response + (follows ? 0 : prompt);
    }
    if (list.empty() || held + more > micro_batch_tokens) {
      list.emplace_back();
      held = alone;
    } else {
      held += more;
    }
    for (; begin < end; ++begin) list.back().push_back(begin);
  }
  return list;
}

}  // namespace

StepPlan plan_step(std::span<const Experience* const> step, int slices, std::int64_t micro_batch_tokens,
                   GroupCut allowed) {
  MAXPLUS_REQUIRE(slices >= 1 && micro_batch_tokens >= 1, "a step has at least one slice, a micro-batch one token");
  const std::int64_t common = common_tokens(step);
  const std::vector<std::int64_t> start = running_tokens(step, common);
  std::vector<std::int64_t> cut = cuts_by_middle(start, slices);
  snap_to_groups(step, start, slices, allowed, cut);
  StepPlan plan;
  for (std::size_t s = 0; s + 1 < cut.size(); ++s) {
    plan.slice.push_back(micro_batches(step, cut[s], cut[s + 1], common, micro_batch_tokens, allowed));
  }
  return plan;
}

namespace {

PackedSize size_with_common(std::span<const Experience* const> step, const RolloutList& rollouts, std::int64_t common) {
  PackedSize size;
  if (common > 0 && !rollouts.empty()) size = {common, 1, 0};
  const Experience* before = nullptr;
  for (const std::int64_t i : rollouts) {
    const Experience& e = *step[static_cast<std::size_t>(i)];
    if (before == nullptr || !shares_prompt(*before, e)) {
      size.tokens += count(e.problem.prompt) - common;
      size.segments += 1;
    }
    size.tokens += fed_response_tokens(e);
    size.segments += fed_response_tokens(e) > 0 ? 1 : 0;
    size.targets += count(e.rollout.token);
    before = &e;
  }
  return size;
}

}  // namespace

std::vector<Experience> fed_whole(std::span<const Experience* const> step) {
  std::vector<Experience> whole;
  whole.reserve(step.size());
  for (const Experience* experience : step) {
    whole.push_back(*experience);
    whole.back().rollout.token.push_back(0);
    whole.back().rollout.trainable.push_back(0);
  }
  return whole;
}

PackedSize packed_size(std::span<const Experience* const> step, const RolloutList& rollouts) {
  return size_with_common(step, rollouts, common_tokens(step));
}

PackedSize largest_micro_batch(std::span<const Experience* const> step, const StepPlan& plan) {
  PackedSize largest;
  const std::int64_t common = common_tokens(step);
  for (const auto& slice : plan.slice) {
    for (const RolloutList& rollouts : slice) {
      const PackedSize size = size_with_common(step, rollouts, common);
      largest.tokens = std::max(largest.tokens, size.tokens);
      largest.segments = std::max(largest.segments, size.segments);
      largest.targets = std::max(largest.targets, size.targets);
    }
  }
  return largest;
}

namespace {

// What all prompts begin with, in a segment of its own (-1: none).
struct Beginning {
  std::int64_t tokens;
  std::int32_t segment;
};

// The group that begins at place `first` of the list: its prompt behind the common beginning, then its responses.
void append_group(std::span<const Experience* const> step, std::size_t first, std::size_t last,
                  const Beginning& beginning, MicroBatch& m) {
  const auto experience = [&](std::size_t k) -> const Experience& {
    return *step[static_cast<std::size_t>(m.rollouts[k])];
  };
  const std::vector<std::int32_t>& prompt = experience(first).problem.prompt;
  MAXPLUS_REQUIRE(!prompt.empty(), fmt::format("problem {} has an empty prompt", experience(first).problem.id));
  const std::int32_t trunk =
      m.batch.append(std::span(prompt).subspan(static_cast<std::size_t>(beginning.tokens)), beginning.segment);
  const std::int64_t last_prompt_row = m.batch.tokens() - 1;
  const auto ask = [&](std::int64_t row, std::size_t k, std::size_t t) {
    m.row.push_back(static_cast<std::int32_t>(row));
    m.target.push_back(experience(k).rollout.token[t]);
    m.place.push_back({static_cast<std::int32_t>(k), static_cast<std::int32_t>(t)});
  };
  for (std::size_t k = first; k < last; ++k) {
    if (!experience(k).rollout.token.empty()) ask(last_prompt_row, k, 0);
  }
  for (std::size_t k = first; k < last; ++k) {
    const std::vector<std::int32_t>& token = experience(k).rollout.token;
    if (token.size() < 2) continue;
    const std::int64_t row = m.batch.tokens();
    m.batch.append(std::span(token).first(token.size() - 1), trunk);
    for (std::size_t t = 1; t < token.size(); ++t) ask(row + static_cast<std::int64_t>(t) - 1, k, t);
  }
}

}  // namespace

MicroBatch build_micro_batch(std::span<const Experience* const> step, const RolloutList& rollouts) {
  MicroBatch m;
  m.rollouts = rollouts;
  Beginning beginning{common_tokens(step), -1};
  if (beginning.tokens > 0 && !rollouts.empty()) {
    const std::span<const std::int32_t> prompt(step.front()->problem.prompt);
    beginning.segment = m.batch.append(prompt.first(static_cast<std::size_t>(beginning.tokens)), -1);
  }
  for (std::size_t first = 0; first < rollouts.size();) {
    std::size_t last = first + 1;
    while (last < rollouts.size() && shares_prompt(*step[static_cast<std::size_t>(rollouts[last - 1])],
                                                   *step[static_cast<std::size_t>(rollouts[last])])) {
      ++last;
    }
    append_group(step, first, last, beginning, m);
    first = last;
  }
  return m;
}

std::vector<std::vector<float>> by_rollout(const MicroBatch& micro_batch, std::span<const float> of_target) {
  MAXPLUS_REQUIRE(of_target.size() == micro_batch.place.size(), "one value a target");
  std::vector<std::vector<float>> lists(micro_batch.rollouts.size());
  // Targets of one rollout stand in the order of its tokens.
  for (std::size_t i = 0; i < of_target.size(); ++i) {
    lists[static_cast<std::size_t>(micro_batch.place[i].rollout)].push_back(of_target[i]);
  }
  return lists;
}

std::vector<float> by_target(const MicroBatch& micro_batch, std::span<const std::vector<float>> of_rollout) {
  MAXPLUS_REQUIRE(of_rollout.size() == micro_batch.rollouts.size(), "one list a rollout");
  std::vector<float> values;
  values.reserve(micro_batch.place.size());
  for (const TokenPlace& place : micro_batch.place) {
    values.push_back(of_rollout[static_cast<std::size_t>(place.rollout)].at(static_cast<std::size_t>(place.token)));
  }
  return values;
}

}  // namespace maxplus
