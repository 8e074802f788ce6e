// Reading and checking problems; what is wrong with a line is said with its number.
#include "data/problem_file.hpp"

#include <algorithm>
#include <array>
#include <optional>
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

bool is_usable_id(const Json& value) {
  const bool small = value.is_number_integer() &&
                     !(value.is_number_unsigned() && value.get<std::uint64_t>() > static_cast<std::uint64_t>(kMaxId));
  return small && value.get<std::int64_t>() >= 0 && value.get<std::int64_t>() <= kMaxId;
}

// Nothing: the line has none that can be used, and need not.
std::optional<std::int64_t> id_of_line(const Json& line, const ProblemFileOptions& options, const std::string& where) {
  const Json* value = find_field(line, options.fields.id);
  if (value != nullptr && is_usable_id(*value)) return value->get<std::int64_t>();
  if (value != nullptr && options.ids == ProblemFileOptions::Ids::strict) {
    bad_problem(where, fmt::format("{} = {} does not do", names_of_field(options.fields.id), in_quotes(value->dump())),
                "an integer from 0 to 2^53", "number the problems, or leave the key out: the line number is taken");
  }
  return std::nullopt;
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
  const Json* found = find_field(line, options.fields.prompt);
  std::vector<ChatMessage> messages;
  if (found != nullptr) {
    if (found->is_string()) {
      problem.prompt_text = found->get<std::string>();
    } else if (found->is_array() && !found->empty()) {
      messages = chat_messages_of(*found, where);
      problem.prompt_text = joined_contents(messages);
    } else {
      bad_problem(where,
                  fmt::format("{} is {}", names_of_field(options.fields.prompt),
                              found->is_array() ? "an empty list" : found->type_name()),
                  "text, or a list of messages", "repair the line");
    }
  }
  if (line.contains("prompt_ids")) {
    problem.prompt = token_ids(line["prompt_ids"], "prompt_ids", tokenizer, where);
    return;
  }
  if (found == nullptr) {
    bad_problem(where, fmt::format("the line has no key {}", names_of_field(options.fields.prompt)),
                "a prompt in every line", "add it, or name the key with prompt_key in [data]");
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
  const Json* found = find_field(line, options.fields.answer);
  if (found != nullptr) problem.answer = *found;
  if (options.answer == ProblemFileOptions::Answer::optional) return;
  if (found == nullptr) {
    bad_problem(where, fmt::format("the line has no key {}", names_of_field(options.fields.answer)),
                "an answer in every line", "add it, or name the key with answer_key in [data]");
  }
  if (!is_usable(*found)) {
    bad_problem(where, fmt::format("the answer {} is empty", in_quotes(found->dump())), "text, a number or an object",
                "repair or remove the line");
  }
}

void read_verifier(const Json& line, const ProblemFileOptions& options, const std::string& where, Problem& problem) {
  const Json* verifier = find_field(line, options.fields.verifier);
  if (verifier == nullptr) return;
  if (!verifier->is_string())
    bad_problem(where, fmt::format("{} is not text", names_of_field(options.fields.verifier)), "the name of a verifier",
                "repair the line");
  problem.verifier = verifier->get<std::string>();
  const auto& known = options.verifiers;
  if (!known.empty() && !problem.verifier.empty() &&
      std::find(known.begin(), known.end(), problem.verifier) == known.end()) {
    bad_problem(
        where, fmt::format("unknown verifier {}{}", in_quotes(problem.verifier), did_you_mean(problem.verifier, known)),
        fmt::format("one of {}", join(known, ", ")), "repair the line");
  }
}

struct ReadProblem {
  Problem problem;
  bool has_id = false;  // else its line number stands in
};

ReadProblem read_problem(const LineFile::Line& line, const ProblemFileOptions& options, const Tokenizer* tokenizer,
                         const std::string& where) {
  if (line.oversized)
    bad_problem(where, "the line is too long", fmt::format("at most {} MiB", kMaxLineBytes >> 20), "shorten it");
  Json json = parse_json_object(line.text, where);
  if (options.preset != nullptr && options.preset->complete != nullptr) options.preset->complete(json);
  const std::optional<std::int64_t> id = id_of_line(json, options, where);
  ReadProblem read;
  read.has_id = id.has_value();
  Problem& problem = read.problem;
  problem.id = id.value_or(line.number);
  read_prompt(json, options, tokenizer, where, problem);
  const auto length = static_cast<std::int64_t>(problem.prompt.size());
  if (options.max_prompt_tokens > 0 && length > options.max_prompt_tokens) {
    bad_problem(where, fmt::format("the prompt has {} tokens", length),
                fmt::format("at most {}: context less max_new_tokens", options.max_prompt_tokens),
                "a longer context, fewer new tokens, or on_bad_line = \"skip\"");
  }
  read_answer(json, options, where, problem);
  read_verifier(json, options, where, problem);
  const ProblemFields& fields = options.fields;
  const std::array<const Json*, 4> taken = {find_field(json, fields.prompt), find_field(json, fields.answer),
                                            find_field(json, fields.id), find_field(json, fields.verifier)};
  for (const auto& [key, value] : json.items()) {
    const bool named = key == "prompt_ids" || std::find(taken.begin(), taken.end(), &value) != taken.end();
    if (!named) problem.extra[key] = value;
  }
  if (const Json* difficulty = find_field(json, fields.difficulty)) problem.extra["difficulty"] = *difficulty;
  return read;
}

}  // namespace

LoadedProblems load_problems(const std::filesystem::path& path, const std::shared_ptr<const Tokenizer>& tokenizer,
                             const ProblemFileOptions& options) {
  LineFile file(path);
  BadLines bad_lines(options.on_bad_line);
  std::vector<Problem> problems;
  std::vector<std::string> places;
  std::vector<std::int64_t> line_of_problem;
  std::unordered_map<std::int64_t, std::int64_t> line_of_id;
  const bool lenient = options.ids == ProblemFileOptions::Ids::lenient;
  std::int64_t first_without_id = 0;  // the line where an id of its own was first missed
  bool any_id = false;
  LoadedProblems loaded;
  while (const auto line = file.next()) {
    if (!line->oversized && trimmed(line->text).empty()) continue;
    ++loaded.lines;
    const std::string where = file.where(line->number);
    try {
      auto [problem, has_id] = read_problem(*line, options, tokenizer.get(), where);
      if (options.check) options.check(problem);
      const auto [first, fresh] = line_of_id.emplace(problem.id, line->number);
      any_id = any_id || has_id;
      if ((!fresh || !has_id) && first_without_id == 0) first_without_id = line->number;
      if (!fresh && !lenient) {
        bad_problem(where, fmt::format("the id {} is already that of line {}", problem.id, first->second),
                    "every id once", "renumber, or leave ids out");
      }
      problems.push_back(std::move(problem));
      places.push_back(where);
      line_of_problem.push_back(line->number);
    } catch (const Error& error) {
      Fault fault = error.faults().front();
      if (fault.where.empty()) fault.where = where;
      bad_lines.add(fault);
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
  if (lenient && first_without_id > 0) {
    for (std::size_t i = 0; i < problems.size(); ++i) problems[i].id = line_of_problem[i];
    if (any_id)
      loaded.id_note = fmt::format("{}: no id, or one that was there already; line numbers are taken for all",
                                   file.where(first_without_id));
  }
  loaded.skipped = bad_lines.count();
  loaded.skip_summary = bad_lines.summary();
  loaded.source = std::make_shared<ProblemList>(path.filename().string(), std::move(problems), std::move(places));
  return loaded;
}

}  // namespace maxplus
