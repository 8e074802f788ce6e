#include "run/line_commands.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/error.hpp"
#include "deck/deck.hpp"
#include "rl/algorithms/algorithm.hpp"
#include "run/json_lines.hpp"
#include "text/json_line.hpp"
#include "text/line_file.hpp"
#include "verify/reward_function.hpp"
#include "verify/score_line.hpp"
#include "verify/verifier_pool.hpp"

namespace maxplus {

namespace {

struct NumberedLine {
  std::string text, where;
};

std::vector<NumberedLine> lines_of(const std::string& path) {
  std::vector<NumberedLine> lines;
  LineFile file(path);
  while (const std::optional<LineFile::Line> line = file.next()) {
    if (line->oversized)
      throw Error(ExitCode::data, Fault{file.where(line->number), "the line is longer than 64 MiB", "", ""});
    if (line->text.find_first_not_of(" \t") != std::string::npos)
      lines.push_back({line->text, file.where(line->number)});
  }
  return lines;
}

// A line of `advantage` as an experience; its group may be a number or text.
Experience as_experience(const Json& line, const std::string& where, std::map<std::string, std::int64_t>* groups) {
  const auto group = line.find("group"), reward = line.find("reward");
  if (group == line.end() || reward == line.end() || !reward->is_number()) {
    throw Error(ExitCode::data, Fault{where, "the line has no 'group' or no number as 'reward'",
                                      "{\"group\": 3, \"reward\": 1.0}", ""});
  }
  Experience experience;
  experience.rollout.group =
      groups->try_emplace(group->dump(), static_cast<std::int64_t>(groups->size())).first->second;
  experience.assessment.reward = static_cast<float>(reward->get<double>());
  experience.assessment.verdict = Verdict::wrong;
  if (const auto verdict = line.find("verdict"); verdict != line.end() && verdict->is_string()) {
    experience.assessment.verdict = verdict_of(verdict->get<std::string>());
  }
  std::int64_t length = 1;
  if (const auto given = line.find("length"); given != line.end() && given->is_number_integer())
    length = std::max<std::int64_t>(1, given->get<std::int64_t>());
  experience.rollout.token.assign(static_cast<std::size_t>(length), 0);
  experience.rollout.trainable.assign(static_cast<std::size_t>(length), 1);
  experience.rollout.log_prob.assign(static_cast<std::size_t>(length), 0.0f);
  if (const auto finish = line.find("finish"); finish != line.end() && finish->is_string())
    experience.rollout.finish = finish_of(finish->get<std::string>());
  return experience;
}

AlgorithmTable table_of(const AdvantageOptions& options) {
  const std::vector<std::string> known{"grpo", "dr_grpo", "dapo"};
  if (std::find(known.begin(), known.end(), options.estimator) == known.end()) {
    throw Error(ExitCode::usage,
                Fault{"", fmt::format("estimator '{}' is not there", options.estimator), "grpo, dr_grpo or dapo", ""});
  }
  if (options.gamma || options.lambda) {
    throw Error(ExitCode::usage, Fault{"", "--gamma and --lambda belong to estimators with values",
                                       fmt::format("none of them with {}", options.estimator), ""});
  }
  AlgorithmTable table;
  table.name = options.estimator;
  table.std = options.std;
  table.scope = options.scope;
  table.epsilon = options.epsilon;
  return table;
}

}  // namespace

std::vector<std::string> score_lines(const CommandLine& line) {
  describe_verifier(line.verifier);  // refuses a name that is not there
  // The verifier stands in the deck, so that its own keys may be --set.
  std::vector<std::string> set = line.set;
  set.push_back(fmt::format("reward.verifier=\"{}\"", line.verifier));
  const Deck deck = empty_deck_with(set);
  const RewardTable& table = deck.reward;
  RewardContext context;
  context.locate = [&deck](std::string_view key) {
    return deck.where(key.empty() ? "reward" : "reward." + std::string(key));
  };
  const std::shared_ptr<const RewardFunction> reward = make_reward_function(table, context);
  std::vector<Json> lines;
  std::vector<JudgeItem> items;
  for (const NumberedLine& input : lines_of(line.file)) {
    ScoreLine read = read_score_line(input.text, input.where);
    lines.push_back(std::move(read.line));
    items.push_back(std::move(read.item));
  }
  VerifierPool pool(reward, table.workers, table.timeout_s);
  const std::vector<Assessment> assessments = pool.assess(std::move(items), {});
  std::vector<std::string> scored;
  for (std::size_t i = 0; i < lines.size(); ++i) scored.push_back(scored_line(std::move(lines[i]), assessments[i]));
  return scored;
}

std::vector<std::string> advantage_lines(const CommandLine& line) {
  const std::unique_ptr<Algorithm> algorithm = make_algorithm(table_of(line.advantage), 1);
  std::map<std::string, std::int64_t> groups;
  std::vector<Json> lines;
  std::vector<Experience> experiences;
  for (const NumberedLine& input : lines_of(line.file)) {
    lines.push_back(parse_json_object(input.text, input.where));
    experiences.push_back(as_experience(lines.back(), input.where, &groups));
    experiences.back().rollout.id.slot = static_cast<std::uint32_t>(experiences.size());
  }
  // Estimators take whole groups; members may be anywhere in the file.
  std::vector<std::size_t> order(experiences.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return experiences[a].rollout.group < experiences[b].rollout.group;
  });
  std::vector<Experience> grouped;
  for (std::size_t i : order) grouped.push_back(experiences[i]);
  algorithm->fill_advantages(grouped);
  for (std::size_t i = 0; i < order.size(); ++i)
    lines[order[i]]["advantage"] = exact_number(grouped[i].advantage.front());
  std::vector<std::string> result;
  for (const Json& one : lines) result.push_back(json_line(one));
  return result;
}

std::string verifier_help(const std::string& verifier) { return describe_verifier(verifier); }

}  // namespace maxplus
