#include "verify/environment.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "text/json_line.hpp"
#include "verify/program_keys.hpp"

namespace maxplus {

namespace {

constexpr std::int64_t kMostTurns = 10000;
constexpr std::int64_t kMostAnswerTokens = 1 << 20;

std::string read_mark(KeyReader& keys, const char* name, const char* standard, const char* meaning) {
  std::string mark = keys.text(name, standard, meaning);
  if (mark.empty())
    keys.add_fault(name, fmt::format("{} is empty", name), "a text", fmt::format("{} = \"{}\"", name, standard));
  return mark;
}

}  // namespace

Environment::Environment(EnvironmentRules rules, std::unique_ptr<CommandWorkers> workers)
    : rules_(std::move(rules)), workers_(std::move(workers)) {}

std::future<CommandWorkers::Answer> Environment::ask(const Problem& problem, const RolloutId& rollout,
                                                     std::span<const Turn> turns, const std::string& call) const {
  if (workers_ == nullptr) {
    std::promise<CommandWorkers::Answer> none;
    none.set_value({"", "the broker of programs was not started"});
    return none.get_future();
  }
  Json earlier = Json::array();
  for (const Turn& turn : turns) earlier.push_back({{"call", turn.call}, {"text", turn.text}});
  Json line = {{"rollout_id", rollout.text()},  {"turn", turns.size() + 1}, {"call", call},
               {"earlier", std::move(earlier)}, {"id", problem.id},         {"prompt", problem.prompt_text},
               {"answer", problem.answer}};
  for (const auto& [key, value] : problem.extra.items()) {
    if (!line.contains(key)) line[key] = value;
  }
  return workers_->ask_later(line.dump(-1, ' ', false, Json::error_handler_t::replace));
}

Environment::Answer Environment::read_answer(const CommandWorkers::Answer& answer) {
  Answer read;
  read.failure = answer.failure;
  if (!read.failure.empty()) return read;
  try {
    const Json json = parse_json_object(answer.line, "");
    const auto text = json.find("text"), end = json.find("end");
    if (text != json.end() && text->is_string()) read.text = text->get<std::string>();
    read.end = end != json.end() && end->is_boolean() && end->get<bool>();
    if (!read.end && (text == json.end() || !text->is_string()))
      read.failure = "the environment's answer has neither a \"text\" nor \"end\": true";
  } catch (const Error& error) {
    read.failure = fmt::format("the environment's answer: {}", error.faults()[0].found);
  }
  return read;
}

std::shared_ptr<const Environment> make_environment(const nlohmann::json& keys, const std::string& folder,
                                                    std::shared_ptr<const Broker> broker, const Locate& locate) {
  KeyReader reader(keys, "[environment]", locate);
  std::optional<ChildProgram> program = read_child_program(reader, folder);
  EnvironmentRules rules;
  rules.call_begin = read_mark(reader, "call_begin", "<tool>", "the text before a call");
  rules.call_end = read_mark(reader, "call_end", "</tool>", "the text after a call; then the environment answers");
  rules.max_turns =
      reader.integer("max_turns", 4, 1, kMostTurns, "calls of a rollout that are answered; one more ends it");
  rules.max_answer_tokens =
      reader.integer("max_answer_tokens", 64, 0, kMostAnswerTokens, "of an answer; the rest of it is cut off");
  const double timeout_s = reader.number("timeout_s", 10, 1e-3, 1e6, "deadline of an answer");
  const std::int64_t workers = reader.integer("workers", 2, 1, 4096, "programs at once on a rank");
  reader.refuse_unknown();
  if (!reader.faults().empty()) throw Error(ExitCode::config, reader.faults());
  auto programs = broker == nullptr
                      ? nullptr
                      : std::make_unique<CommandWorkers>(std::move(*program), std::move(broker), workers, timeout_s);
  return std::make_shared<const Environment>(std::move(rules), std::move(programs));
}

}  // namespace maxplus
