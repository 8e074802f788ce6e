#include "run/advantage_lines.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/strings.hpp"
#include "deck/deck.hpp"
#include "rl/algorithms/gae.hpp"
#include "rl/algorithms/policy_options.hpp"
#include "run/json_lines.hpp"
#include "text/json_line.hpp"
#include "text/line_file.hpp"

namespace maxplus {

namespace {

const std::vector<std::string> kEstimators{"grpo",  "dr_grpo", "rloo", "reinforce_pp", "reinforce_pp_baseline",
                                           "maxrl", "opmd",    "gae"};

struct AdvantageLine {
  Json json;
  std::string where;
  std::int64_t group = 0;
  std::vector<std::uint8_t> trainable;
};

[[noreturn]] void refuse_line(const std::string& where, const std::string& found, const std::string& expected) {
  throw Error(ExitCode::data, Fault{where, found, expected, ""});
}

[[noreturn]] void refuse_option(const std::string& found, const std::string& expected) {
  throw Error(ExitCode::usage, Fault{"", found, expected, ""});
}

const Json* find(const Json& line, const char* key) {
  const auto found = line.find(key);
  return found == line.end() || found->is_null() ? nullptr : &*found;
}

double number(const AdvantageLine& line, const char* key, const Json& value) {
  if (!value.is_number()) refuse_line(line.where, fmt::format("\"{}\" is {}", key, value.dump()), "a number");
  return value.get<double>();
}

// A response token each; null is allowed where the token is not trainable, and means nothing there.
std::vector<double> numbers(const AdvantageLine& line, const char* key, const Json& list) {
  if (!list.is_array() || list.size() != line.trainable.size()) {
    refuse_line(line.where,
                fmt::format("\"{}\" has not one value for each of the {} tokens", key, line.trainable.size()),
                "lists of one length, that of \"length\" if it is given");
  }
  std::vector<double> values;
  for (std::size_t t = 0; t < list.size(); ++t)
    values.push_back(line.trainable[t] == 0 ? 0.0 : number(line, key, list[t]));
  return values;
}

std::size_t length_of(const AdvantageLine& line) {
  if (const Json* length = find(line.json, "length")) {
    if (!length->is_number_integer() || length->get<std::int64_t>() < 0)
      refuse_line(line.where, "\"length\" is " + length->dump(), "the number of response tokens");
    return length->get<std::size_t>();
  }
  for (const char* key : {"trainable", "reward", "log_prob", "value"}) {
    if (const Json* list = find(line.json, key); list != nullptr && list->is_array()) return list->size();
  }
  return 1;
}

AdvantageLine read_line(const NumberedLine& input, std::map<std::string, std::int64_t>* groups) {
  AdvantageLine line{parse_json_object(input.text, input.where), input.where, 0, {}};
  const Json* group = find(line.json, "group");
  const Json* reward = find(line.json, "reward");
  if (group == nullptr || reward == nullptr || !(reward->is_number() || reward->is_array()))
    refuse_line(line.where, "the line has no 'group' or no number as 'reward'", "{\"group\": 3, \"reward\": 1.0}");
  line.group = groups->try_emplace(group->dump(), static_cast<std::int64_t>(groups->size())).first->second;
  line.trainable.assign(length_of(line), 1);
  if (const Json* trainable = find(line.json, "trainable")) {
    const std::vector<double> flags = numbers(line, "trainable", *trainable);
    for (std::size_t t = 0; t < flags.size(); ++t) line.trainable[t] = flags[t] != 0 ? 1 : 0;
  }
  return line;
}

std::vector<AdvantageLine> read_lines(const std::string& path) {
  std::map<std::string, std::int64_t> groups;  // a group may be a number or text
  std::vector<AdvantageLine> lines;
  for (const NumberedLine& input : filled_lines(path)) lines.push_back(read_line(input, &groups));
  return lines;
}

bool counts_here(const AdvantageLine& line) {
  const Json* verdict = find(line.json, "verdict");
  return verdict == nullptr || !verdict->is_string() || counts(verdict_of(verdict->get<std::string>()));
}

bool was_cut(const AdvantageLine& line) {
  const Json* finish = find(line.json, "finish");
  return finish != nullptr && finish->is_string() && finish_of(finish->get<std::string>()) != Finish::stopped;
}

Json list_of(const std::vector<double>& values) {
  Json list = Json::array();
  for (const double value : values) list.push_back(value);
  return list;
}

// One number where all trainable tokens share it, else a list.
Json answer_of(const AdvantageLine& line, const std::vector<double>& advantage) {
  std::optional<double> shared;
  for (std::size_t t = 0; t < advantage.size(); ++t) {
    if (line.trainable[t] == 0) continue;
    if (shared && *shared != advantage[t]) return list_of(advantage);
    shared = advantage[t];
  }
  return shared.value_or(0.0);
}

// Generalised advantage estimation of a line.
void add_gae(AdvantageLine* line, const GaeRule& rule) {
  const Json* given = find(line->json, "value");
  if (given == nullptr || !given->is_array())
    refuse_line(line->where, "the line has no \"value\"",
                "a list with the critic's value of each token, which gae needs");
  Json value = *given;
  // One more value is that of the state after the last token.
  std::optional<double> after_last;
  if (value.size() == line->trainable.size() + 1) {
    after_last = number(*line, "value", value.back());
    value.erase(value.size() - 1);
  }
  const std::vector<double> values = numbers(*line, "value", value);
  std::vector<double> reward(values.size(), 0.0);
  std::size_t last = values.size();
  for (std::size_t t = 0; t < values.size(); ++t) last = line->trainable[t] != 0 ? t : last;
  const Json& judged = line->json.at("reward");
  if (judged.is_array()) {
    reward = numbers(*line, "reward", judged);
  } else if (last < reward.size()) {
    reward[last] = number(*line, "reward", judged);
  }
  if (const Json* bootstrap = find(line->json, "bootstrap_value"))
    after_last = number(*line, "bootstrap_value", *bootstrap);
  if (!after_last) after_last = last < values.size() ? values[last] : 0.0;
  const GaeEstimate estimate =
      generalised_advantages(reward, values, line->trainable, was_cut(*line) ? *after_last : 0.0, rule);
  line->json["advantage"] = list_of(estimate.advantage);
  line->json["return"] = list_of(estimate.value_target);
}

void add_group_advantages(std::vector<AdvantageLine>* lines, const PolicySettings& settings) {
  std::vector<JudgedRollout> rollouts;
  for (const AdvantageLine& line : *lines) {
    JudgedRollout rollout;
    rollout.group = line.group;
    rollout.counts = counts_here(line);
    rollout.trainable = line.trainable;
    rollout.reward = settings.shaped(number(line, "reward", line.json.at("reward")), std::ssize(line.trainable));
    if (settings.kl_in_reward()) {
      const Json *drawn = find(line.json, "log_prob"), *reference = find(line.json, "reference_log_prob");
      if (drawn == nullptr || reference == nullptr) {
        refuse_line(line.where, "KL in the reward needs \"log_prob\" and \"reference_log_prob\"",
                    "a list each, with a value a response token");
      }
      const std::vector<double> log_prob = numbers(line, "log_prob", *drawn);
      const std::vector<double> other = numbers(line, "reference_log_prob", *reference);
      for (std::size_t t = 0; t < log_prob.size(); ++t) rollout.kl.push_back(settings.kl_price(log_prob[t], other[t]));
    }
    rollouts.push_back(std::move(rollout));
  }
  const std::vector<std::vector<double>> advantage = token_advantages(rollouts, settings.advantage);
  for (std::size_t i = 0; i < lines->size(); ++i) {
    AdvantageLine& line = (*lines)[i];
    line.json["advantage"] = answer_of(line, advantage[i]);
  }
}

PolicySettings settings_of(const CommandLine& command) {
  const AdvantageOptions& options = command.advantage;
  if (options.lambda) refuse_option("--lambda belongs to gae", "it with --estimator gae");
  const bool of_tokens = options.estimator == "reinforce_pp" || options.estimator == "reinforce_pp_baseline";
  if (options.gamma && !of_tokens)
    refuse_option("--gamma belongs to estimators with a value a token", "gae, reinforce_pp or reinforce_pp_baseline");
  AlgorithmTable table = empty_deck_with(command.set).algorithm;
  table.name = options.estimator;
  if (options.std) table.std = options.std;
  if (options.scope) table.scope = options.scope;
  if (options.epsilon) table.epsilon = options.epsilon;
  try {
    PolicySettings settings = policy_settings(table, *find_recipe(table.name, 1), 1);
    settings.advantage.gamma = options.gamma.value_or(1);
    return settings;
  } catch (const Error& error) {
    if (command.set.empty()) throw Error(ExitCode::usage, error.faults());  // from options alone
    throw;
  }
}

}  // namespace

std::vector<std::string> advantage_lines(const CommandLine& command) {
  const AdvantageOptions& options = command.advantage;
  if (std::find(kEstimators.begin(), kEstimators.end(), options.estimator) == kEstimators.end()) {
    refuse_option(
        fmt::format("estimator '{}' is not there{}", options.estimator, did_you_mean(options.estimator, kEstimators)),
        "one of " + join(kEstimators, ", "));
  }
  const bool gae = options.estimator == "gae";
  if (gae && (options.std || options.scope || options.epsilon))
    refuse_option("--std, --scope and --epsilon belong to estimators that compare rewards", "gae without them");
  const std::optional<PolicySettings> settings = gae ? std::nullopt : std::optional(settings_of(command));
  std::vector<AdvantageLine> lines = read_lines(command.file);
  if (gae) {
    for (AdvantageLine& line : lines) add_gae(&line, {options.gamma.value_or(1), options.lambda.value_or(1)});
  } else {
    add_group_advantages(&lines, *settings);
  }
  std::vector<std::string> result;
  for (const AdvantageLine& line : lines) result.push_back(json_line(line.json));
  return result;
}

}  // namespace maxplus
