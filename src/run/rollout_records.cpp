#include "run/rollout_records.hpp"

#include <cmath>
#include <fstream>
#include <limits>
#include <set>

#include <fmt/format.h>

#include "base/error.hpp"
#include "data/problem_mix.hpp"
#include "run/json_lines.hpp"
#include "text/json_line.hpp"

namespace maxplus {

namespace {

constexpr std::size_t kMostFaults = 20;

Json advantage_of(const Experience& e) {
  const float* shared = nullptr;
  for (std::size_t t = 0; t < e.advantage.size(); ++t) {
    if (e.rollout.trainable[t] == 0) continue;
    if (shared != nullptr && e.advantage[t] != *shared) return exact_numbers(e.advantage);
    shared = &e.advantage[t];
  }
  return shared == nullptr ? exact_number(0.0f) : exact_number(*shared);
}

}  // namespace

Json rollout_record(std::int64_t iteration, const Experience& e, const std::string& response) {
  Json line = Json::object();
  line["iteration"] = iteration;
  line["rollout_id"] = e.rollout.id.text();
  line["problem"] = e.problem.id;
  if (const auto source = e.problem.extra.find(kMixSource); source != e.problem.extra.end()) line["source"] = *source;
  line["group"] = e.rollout.group;
  line["index"] = e.rollout.id.index;
  line["prompt"] = e.problem.prompt_text;
  line["response"] = response;
  line["reward"] = exact_number(e.assessment.reward);
  line["verdict"] = name_of(e.assessment.verdict);
  line["advantage"] = advantage_of(e);
  line["finish"] = name_of(e.rollout.finish);
  if (!e.assessment.part.empty()) line["reward_parts"] = exact_numbers(e.assessment.part);
  if (!e.assessment.extracted.empty()) line["extracted"] = e.assessment.extracted;
  line["prompt_ids"] = e.problem.prompt;
  line["response_ids"] = e.rollout.token;
  line["trainable"] = e.rollout.trainable;
  if (!e.rollout.log_prob.empty()) line["log_prob"] = exact_numbers(e.rollout.log_prob);
  if (!e.rollout.version.empty()) line["version"] = e.rollout.version;
  if (!e.assessment.reference_log_prob.empty())
    line["reference_log_prob"] = exact_numbers(e.assessment.reference_log_prob);
  if (e.assessment.greedy_reward) line["greedy_reward"] = exact_number(*e.assessment.greedy_reward);
  if (!e.assessment.value.empty()) line["value"] = exact_numbers(e.assessment.value);
  return line;
}

namespace {

// Reads the keys of one line; every refusal names the place and the key.
class RecordReader {
 public:
  RecordReader(const Json& line, std::string where) : line_(line), where_(std::move(where)) {}

  [[noreturn]] void refuse(const std::string& found, const std::string& expected) const {
    throw Error(ExitCode::data, Fault{where_, found, expected, ""});
  }
  const Json* find(const char* key) const {
    const auto found = line_.find(key);
    return found == line_.end() || found->is_null() ? nullptr : &*found;
  }
  const Json& required(const char* key) const {
    const Json* found = find(key);
    if (found == nullptr)
      refuse(fmt::format("no \"{}\"", key),
             "\"group\", \"prompt_ids\", \"response_ids\" and \"reward\" in every recorded rollout");
    return *found;
  }
  std::int64_t integer(const char* key, const Json& value) const {
    if (!value.is_number_integer()) refuse(fmt::format("\"{}\" is {}", key, value.dump()), "an integer");
    return value.get<std::int64_t>();
  }
  std::string text(const char* key) const {
    const Json* value = find(key);
    if (value == nullptr) return "";
    if (!value->is_string()) refuse(fmt::format("\"{}\" is {}", key, value->dump()), "a text");
    return value->get<std::string>();
  }
  float finite(const char* key, const Json& value) const {
    const float number =
        value.is_number() ? static_cast<float>(value.get<double>()) : std::numeric_limits<float>::quiet_NaN();
    if (!std::isfinite(number)) refuse(fmt::format("\"{}\" is {}", key, value.dump()), "a finite number");
    return number;
  }
  std::vector<std::int32_t> tokens(const char* key, std::int64_t vocabulary) const {
    const std::int64_t end = vocabulary > 0 ? vocabulary : std::numeric_limits<std::int32_t>::max();
    std::vector<std::int32_t> ids;
    for (const Json& id : list(key, required(key))) {
      if (!id.is_number_integer() || id.get<std::int64_t>() < 0 || id.get<std::int64_t>() >= end) {
        refuse(fmt::format("\"{}\" holds {}", key, id.dump()),
               fmt::format("token ids, integers from 0 to {}", end - 1));
      }
      ids.push_back(id.get<std::int32_t>());
    }
    return ids;
  }
  // A response token each; null (NaN) is allowed where the token is not trainable. Empty if the key is absent.
  std::vector<float> floats(const char* key, const std::vector<std::uint8_t>& trainable) const {
    std::vector<float> numbers;
    const Json* value = find(key);
    if (value == nullptr) return numbers;
    check_length(key, list(key, *value).size(), trainable.size());
    for (std::size_t t = 0; t < trainable.size(); ++t) {
      const Json& number = (*value)[t];
      const bool absent = number.is_null() && trainable[t] == 0;
      numbers.push_back(absent ? std::numeric_limits<float>::quiet_NaN() : finite(key, number));
    }
    return numbers;
  }
  std::vector<std::int32_t> integers(const char* key, std::size_t length) const {
    std::vector<std::int32_t> numbers;
    const Json* value = find(key);
    if (value == nullptr) return numbers;
    check_length(key, list(key, *value).size(), length);
    for (const Json& number : *value) numbers.push_back(static_cast<std::int32_t>(integer(key, number)));
    return numbers;
  }
  const Json& list(const char* key, const Json& value) const {
    if (!value.is_array()) refuse(fmt::format("\"{}\" is {}", key, value.type_name()), "a list");
    return value;
  }

 private:
  void check_length(const char* key, std::size_t found, std::size_t expected) const {
    if (found != expected)
      refuse(fmt::format("\"{}\" has {} entries", key, found),
             fmt::format("one for each of the {} response_ids", expected));
  }
  const Json& line_;
  std::string where_;
};

void read_rollout(const RecordReader& reader, std::int64_t line_number, const RecordLimits& limits, Experience& e) {
  e.rollout.group = reader.integer("group", reader.required("group"));
  e.problem.prompt = reader.tokens("prompt_ids", limits.vocabulary);
  if (e.problem.prompt.empty())
    reader.refuse("\"prompt_ids\" is empty", "at least one token, from which the first of the response is predicted");
  e.rollout.token = reader.tokens("response_ids", limits.vocabulary);
  const std::size_t length = e.problem.prompt.size() + e.rollout.token.size();
  if (limits.context > 0 && length > static_cast<std::size_t>(limits.context)) {
    reader.refuse(fmt::format("prompt and response have {} tokens", length),
                  fmt::format("at most the model's context of {}", limits.context));
  }
  const std::size_t tokens = e.rollout.token.size();
  e.rollout.trainable.assign(tokens, 1);
  if (reader.find("trainable") != nullptr) {
    const std::vector<std::int32_t> flags = reader.integers("trainable", tokens);
    for (std::size_t t = 0; t < tokens; ++t) {
      if (flags[t] != 0 && flags[t] != 1) reader.refuse(fmt::format("\"trainable\" holds {}", flags[t]), "0 or 1");
      e.rollout.trainable[t] = static_cast<std::uint8_t>(flags[t]);
    }
  }
  e.rollout.log_prob = reader.floats("log_prob", e.rollout.trainable);
  e.rollout.version = reader.integers("version", tokens);
  const std::string finish = reader.text("finish"), id = reader.text("rollout_id");
  if (!finish.empty()) e.rollout.finish = finish_of(finish);
  e.rollout.id = id.empty() ? RolloutId{0, 0, static_cast<std::uint32_t>(line_number >> 14) & 0xfffffu,
                                        static_cast<std::uint32_t>(line_number) & 0x3fffu}
                            : RolloutId::parse(id);
  const Json* problem = reader.find("problem");
  e.problem.id = e.rollout.problem = problem == nullptr ? e.rollout.group : reader.integer("problem", *problem);
  if (const Json* source = reader.find("source"); source != nullptr && source->is_string())
    e.problem.extra[kMixSource] = *source;
  e.problem.prompt_text = reader.text("prompt");
}

void read_assessment(const RecordReader& reader, Experience& e) {
  const std::vector<std::uint8_t>& trainable = e.rollout.trainable;
  e.assessment.reward = reader.finite("reward", reader.required("reward"));
  if (const Json* parts = reader.find("reward_parts")) {
    for (const Json& part : reader.list("reward_parts", *parts))
      e.assessment.part.push_back(reader.finite("reward_parts", part));
  }
  const std::string verdict = reader.text("verdict");
  e.assessment.verdict =
      verdict.empty() ? (e.assessment.reward > 0 ? Verdict::correct : Verdict::wrong) : verdict_of(verdict);
  e.assessment.extracted = reader.text("extracted");
  e.assessment.reference_log_prob = reader.floats("reference_log_prob", trainable);
  e.assessment.value = reader.floats("value", trainable);
  if (const Json* greedy = reader.find("greedy_reward"))
    e.assessment.greedy_reward = reader.finite("greedy_reward", *greedy);
  const Json* advantage = reader.find("advantage");
  if (advantage == nullptr) return;
  if (advantage->is_array()) {
    e.advantage = reader.floats("advantage", trainable);
    return;
  }
  const float shared = reader.finite("advantage", *advantage);
  for (const std::uint8_t flag : trainable) e.advantage.push_back(flag != 0 ? shared : 0.0f);
}

}  // namespace

RecordedRollout parse_rollout_record(const std::string& text, const std::string& where, std::int64_t line_number,
                                     const RecordLimits& limits) {
  const Json line = parse_json_object(text, where);
  const RecordReader reader(line, where);
  RecordedRollout record;
  try {
    if (const Json* iteration = reader.find("iteration")) record.iteration = reader.integer("iteration", *iteration);
    record.response = reader.text("response");
    read_rollout(reader, line_number, limits, record.experience);
    read_assessment(reader, record.experience);
  } catch (const Error& error) {
    Fault fault = error.faults().front();  // names and ids are refused by functions that do not know the place
    if (fault.where.empty()) fault.where = where;
    throw Error(ExitCode::data, fault);
  }
  return record;
}

std::vector<RecordedRollout> read_rollout_records(const std::filesystem::path& path, const RecordLimits& limits) {
  std::ifstream file(path, std::ios::binary);
  if (!file || std::filesystem::is_directory(path)) {
    throw Error(ExitCode::no_input,
                Fault{path.string(), "the file cannot be read", "recorded rollouts, one JSON object a line", ""});
  }
  std::vector<RecordedRollout> records;
  std::vector<Fault> faults;
  std::set<std::uint64_t> seen;
  std::int64_t number = 0;
  for (std::string line; std::getline(file, line) && faults.size() < kMostFaults;) {
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const std::string where = fmt::format("{}:{}", path.string(), number);
    try {
      RecordedRollout record = parse_rollout_record(line, where, number, limits);
      if (!seen.insert(record.experience.rollout.id.packed()).second) {
        faults.push_back({where, fmt::format("rollout {} stands twice", record.experience.rollout.id.text()),
                          "each rollout once", ""});
      }
      records.push_back(std::move(record));
    } catch (const Error& error) {
      faults.insert(faults.end(), error.faults().begin(), error.faults().end());
    }
  }
  if (!faults.empty()) throw Error(ExitCode::data, std::move(faults));
  return records;
}

}  // namespace maxplus
