#include "run/replay_file.hpp"

#include <algorithm>
#include <map>

#include "run/json_lines.hpp"
#include "verify/response_text.hpp"

namespace maxplus {

std::vector<std::vector<Experience>> read_recorded_iterations(const std::filesystem::path& path,
                                                              const RecordLimits& limits) {
  std::vector<std::vector<Experience>> iterations;
  std::map<std::int64_t, std::size_t> index_of;  // of an iteration number
  for (RecordedRollout& record : read_rollout_records(path, limits)) {
    const auto [found, fresh] = index_of.try_emplace(record.iteration, iterations.size());
    if (fresh) iterations.emplace_back();
    iterations[found->second].push_back(std::move(record.experience));
  }
  for (std::vector<Experience>& experiences : iterations) {
    std::map<std::int64_t, std::size_t> first_member;
    for (std::size_t i = 0; i < experiences.size(); ++i) first_member.try_emplace(experiences[i].rollout.group, i);
    std::stable_sort(experiences.begin(), experiences.end(), [&first_member](const Experience& a, const Experience& b) {
      return first_member.at(a.rollout.group) < first_member.at(b.rollout.group);
    });
  }
  return iterations;
}

std::string generated_line(const Problem& problem, const Rollout& rollout, const Tokenizer* tokenizer) {
  Json line = Json::object();
  line["rollout_id"] = rollout.id.text();
  line["problem"] = problem.id;
  line["group"] = rollout.group;
  line["index"] = rollout.id.index;
  if (!problem.prompt_text.empty()) line["prompt"] = problem.prompt_text;
  if (tokenizer != nullptr) line["response"] = response_text(*tokenizer, rollout);
  line["finish"] = name_of(rollout.finish);
  line["prompt_ids"] = problem.prompt;
  line["response_ids"] = rollout.token;
  line["trainable"] = rollout.trainable;
  line["log_prob"] = exact_numbers(rollout.log_prob);
  return json_line(line);
}

}  // namespace maxplus
