// Reading and checking problems; what is wrong with a line is said with its number.
#include "data/problem_file.hpp"

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "base/strings.hpp"
#include "data/token_ids.hpp"
#include "text/chat_template.hpp"
#include "text/json_line.hpp"
#include "text/line_file.hpp"
#include "text/utf8.hpp"

namespace maxplus {

namespace {

constexpr std::int64_t kMaxId = std::int64_t{1} << 53;  // beyond it other readers of JSON lose digits

[[noreturn]] void bad_problem(const std::string& where, std::string found, std::string expected, std::string advice) {
  throw Error(ExitCode::data, Fault{where, std::move(found), std::move(expected), std::move(advice)});
}

std::int64_t id_of_line(const Json& value, const std::string& key, const std::string& where) {
  const bool small = value.is_number_integer() &&
                     !(value.is_number_unsigned() && value.get<std::uint64_t>() > static_cast<std::uint64_t>(kMaxId));
  if (!small || value.get<std::int64_t>() < 0 || value.get<std::int64_t>() > kMaxId) {
    bad_problem(where, fmt::format("{} = {} does not do", in_quotes(key), in_quotes(value.dump())),
                "an integer from 0 to 2^53", "number the problems, or leave the key out: the line number is taken");
  }
  return value.get<std::int64_t>();
}

std::string joined_contents(const std::vector<ChatMessage>& messages) {
  std::string text;
  for (const ChatMessage& message : messages) {
    if (!text.empty()) text += '\n';
    text += message.content;
  }
  return text;
}

void read_prompt(const Json& line, const ProblemFileOptions& options, const Tokenizer* tokenizer,
                 const std::string& where, Problem& problem) {
  const auto found = line.find(options.prompt_key);
  std::vector<ChatMessage> messages;
  if (found != line.end()) {
    if (found->is_string()) {
      problem.prompt_text = found->get<std::string>();
    } else if (found->is_array() && !found->empty()) {
      messages = chat_messages_of(*found, where);
      problem.prompt_text = joined_contents(messages);
    } else {
      bad_problem(where,
                  fmt::format("{} is {}", in_quotes(options.prompt_key),
                              found->is_array() ? "an empty list" : found->type_name()),
                  "text, or a list of messages", "repair the line");
    }
  }
  if (line.contains("prompt_ids")) {
    problem.prompt = token_ids(line["prompt_ids"], "prompt_ids", tokenizer, where);
    return;
  }
  if (found == line.end()) {
    bad_problem(where, fmt::format("the line has no key {}", in_quotes(options.prompt_key)), "a prompt in every line",
                "add it, or name the key with prompt_key in [data]");
  }
  if (trimmed(problem.prompt_text).empty())
    bad_problem(where, "the prompt is empty", "some text", "repair or remove the line");
  if (tokenizer == nullptr)
    bad_problem(where, "the prompt is text, and the model has no tokenizer", "'prompt_ids'",
                "give token ids, or a model with a tokenizer");
  try {
    const bool chat = !messages.empty() && tokenizer->chat() != nullptr;
    problem.prompt = chat ? encode_chat(*tokenizer, messages, GenerationPrompt::add)
                          : encode_prompt(*tokenizer, problem.prompt_text);
  } catch (const Error& error) {
    Fault fault = error.faults().front();
    fault.where = where;
    throw Error(ExitCode::data, std::move(fault));
  }
}

bool is_usable(const Json& answer) {
  if (answer.is_string()) return !trimmed(answer.get_ref<const std::string&>()).empty();
  return answer.is_number() || answer.is_boolean() || ((answer.is_object() || answer.is_array()) && !answer.empty());
}

void read_answer(const Json& line, const ProblemFileOptions& options, const std::string& where, Problem& problem) {
  const auto found = line.find(options.answer_key);
  if (found != line.end()) problem.answer = *found;
  if (options.answer == ProblemFileOptions::Answer::optional) return;
  if (found == line.end()) {
    bad_problem(where, fmt::format("the line has no key {}", in_quotes(options.answer_key)), "an answer in every line",
                "add it, or name the key with answer_key in [data]");
  }
  if (!is_usable(*found)) {
    bad_problem(where, fmt::format("the answer {} is empty", in_quotes(found->dump())), "text, a number or an object",
                "repair or remove the line");
  }
}

Problem read_problem(const LineFile::Line& line, const ProblemFileOptions& options, const Tokenizer* tokenizer,
                     const std::string& where) {
  if (line.oversized)
    bad_problem(where, "the line is too long", fmt::format("at most {} MiB", kMaxLineBytes >> 20), "shorten it");
  const Json json = parse_json_object(line.text, where);
  Problem problem;
  problem.id = json.contains(options.id_key) ? id_of_line(json[options.id_key], options.id_key, where) : line.number;
  read_prompt(json, options, tokenizer, where, problem);
  const auto length = static_cast<std::int64_t>(problem.prompt.size());
  if (options.max_prompt_tokens > 0 && length > options.max_prompt_tokens) {
    bad_problem(where, fmt::format("the prompt has {} tokens", length),
                fmt::format("at most {}: context less max_new_tokens", options.max_prompt_tokens),
                "a longer context, fewer new tokens, or on_bad_line = \"skip\"");
  }
  read_answer(json, options, where, problem);
  if (const auto verifier = json.find(options.verifier_key); verifier != json.end()) {
    if (!verifier->is_string())
      bad_problem(where, fmt::format("{} is not text", in_quotes(options.verifier_key)), "the name of a verifier",
                  "repair the line");
    problem.verifier = verifier->get<std::string>();
    const auto& known = options.verifiers;
    if (!known.empty() && !problem.verifier.empty() &&
        std::find(known.begin(), known.end(), problem.verifier) == known.end()) {
      bad_problem(
          where,
          fmt::format("unknown verifier {}{}", in_quotes(problem.verifier), did_you_mean(problem.verifier, known)),
          fmt::format("one of {}", join(known, ", ")), "repair the line");
    }
  }
  for (const auto& [key, value] : json.items()) {
    const bool named = key == options.prompt_key || key == "prompt_ids" || key == options.answer_key ||
                       key == options.id_key || key == options.verifier_key;
    if (!named) problem.extra[key] = value;
  }
  return problem;
}

}  // namespace

LoadedProblems load_problems(const std::filesystem::path& path, const std::shared_ptr<const Tokenizer>& tokenizer,
                             const ProblemFileOptions& options) {
  LineFile file(path);
  BadLines bad_lines(options.on_bad_line);
  std::vector<Problem> problems;
  std::vector<std::string> places;
  std::unordered_map<std::int64_t, std::int64_t> line_of_id;
  LoadedProblems loaded;
  while (const auto line = file.next()) {
    if (!line->oversized && trimmed(line->text).empty()) continue;
    ++loaded.lines;
    const std::string where = file.where(line->number);
    try {
      Problem problem = read_problem(*line, options, tokenizer.get(), where);
      const auto [first, fresh] = line_of_id.emplace(problem.id, line->number);
      if (!fresh) {
        bad_problem(where, fmt::format("the id {} is already that of line {}", problem.id, first->second),
                    "every id once", "renumber, or leave ids out");
      }
      problems.push_back(std::move(problem));
      places.push_back(where);
    } catch (const Error& error) {
      bad_lines.add(error.faults().front());
    }
  }
  bad_lines.set_lines(loaded.lines);
  bad_lines.finish();
  if (problems.empty()) {
    throw Error(ExitCode::data, Fault{file.where(1),
                                      loaded.lines == 0 ? "the file holds no problem"
                                                        : fmt::format("no line can be used: {}", bad_lines.summary()),
                                      "at least one line {\"prompt\": …, \"answer\": …}", "check the path"});
  }
  loaded.skipped = bad_lines.count();
  loaded.skip_summary = bad_lines.summary();
  loaded.source = std::make_shared<ProblemList>(path.filename().string(), std::move(problems), std::move(places));
  return loaded;
}

}  // namespace maxplus
