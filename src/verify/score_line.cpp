// Reading and writing the lines of `score`.
#include "verify/score_line.hpp"

#include <fmt/format.h>

#include "text/json_line.hpp"
#include "text/utf8.hpp"

namespace maxplus {

namespace {

[[noreturn]] void bad(const std::string& where, std::string found, std::string expected) {
  throw Error(ExitCode::data, Fault{where, std::move(found), std::move(expected), "repair the line"});
}

std::string text_of_prompt(const Json& prompt) {
  if (prompt.is_string()) return prompt.get<std::string>();
  std::string text;
  if (!prompt.is_array()) return text;
  for (const Json& message : prompt) {
    if (!message.is_object() || !message.contains("content") || !message["content"].is_string()) continue;
    if (!text.empty()) text += '\n';
    text += message["content"].get<std::string>();
  }
  return text;
}

void read_rollout(const Json& line, const std::string& where, Rollout& rollout) {
  try {
    if (const auto finish = line.find("finish"); finish != line.end())
      rollout.finish = finish_of(finish->get<std::string>());
    if (const auto id = line.find("rollout_id"); id != line.end())
      rollout.id = RolloutId::parse(id->get<std::string>());
    if (const auto ids = line.find("response_ids"); ids != line.end())
      rollout.token = ids->get<std::vector<std::int32_t>>();
  } catch (const Error& error) {
    bad(where, error.faults()[0].found, error.faults()[0].expected);
  } catch (const nlohmann::json::exception&) {
    bad(where, "'finish', 'rollout_id' or 'response_ids' is of the wrong type", "text, text, a list of integers");
  }
}

}  // namespace

ScoreLine read_score_line(std::string_view text, const std::string& where) {
  ScoreLine score;
  score.line = parse_json_object(text, where);
  const Json& line = score.line;
  const auto response = line.find("response");
  if (response == line.end() || !response->is_string())
    bad(where, "the line has no text 'response'", "{\"id\", \"response\", \"answer\"}");
  score.item.response = response->get<std::string>();
  Problem& problem = score.item.problem;
  if (const auto id = line.find("id"); id != line.end() && id->is_number_integer())
    problem.id = id->get<std::int64_t>();
  if (const auto answer = line.find("answer"); answer != line.end()) problem.answer = *answer;
  if (const auto prompt = line.find("prompt"); prompt != line.end()) problem.prompt_text = text_of_prompt(*prompt);
  read_rollout(line, where, score.item.rollout);
  for (const auto& [key, value] : line.items()) {
    const bool known = key == "id" || key == "response" || key == "answer" || key == "prompt" || key == "finish" ||
                       key == "rollout_id" || key == "response_ids";
    if (!known) problem.extra[key] = value;
  }
  return score;
}

std::string scored_line(Json line, const Assessment& assessment) {
  for (const char* key : {"reward", "verdict", "extracted", "reward_parts"}) line.erase(key);
  line["reward"] = assessment.reward;
  line["verdict"] = name_of(assessment.verdict);
  line["extracted"] = assessment.extracted;
  if (assessment.part.size() > 1) line["reward_parts"] = assessment.part;
  return line.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string score_line(const Verifier& verifier, std::string_view text, const std::string& where) {
  ScoreLine score = read_score_line(text, where);
  const Assessment assessment = verifier.assess(score.item.problem, score.item.rollout, score.item.response);
  return scored_line(std::move(score.line), assessment);
}

}  // namespace maxplus
