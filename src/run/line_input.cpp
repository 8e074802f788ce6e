#include "run/line_input.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "run/text_choice.hpp"
#include "text/json_line.hpp"
#include "text/line_file.hpp"

namespace maxplus {

namespace {

TokenLine parse(const std::string& text, const std::string& where, std::int64_t vocabulary) {
  const Json line = parse_json_object(text, where);
  TokenLine result;
  result.where = where;
  if (const auto ids = line.find("ids"); ids != line.end()) {
    result.ids.emplace();
    if (!ids->is_array()) throw Error(ExitCode::data, Fault{where, "'ids' is not a list", "a list of token ids", ""});
    for (const Json& id : *ids) {
      if (!id.is_number_integer() || id.get<std::int64_t>() < 0 || id.get<std::int64_t>() >= vocabulary) {
        throw Error(ExitCode::data, Fault{where, fmt::format("{} in 'ids' is no token id", id.dump()),
                                          fmt::format("integers from 0 to {}", vocabulary - 1), ""});
      }
      result.ids->push_back(id.get<std::int32_t>());
    }
  } else if (const auto given = line.find("text"); given != line.end() && given->is_string()) {
    result.text = given->get<std::string>();
  } else if (const auto messages = line.find("messages"); messages != line.end()) {
    result.messages = chat_messages_of(*messages, where);
  } else {
    throw Error(ExitCode::data, Fault{where, "the line has neither 'ids' nor 'text' nor 'messages'",
                                      "{\"ids\": [...]}, {\"text\": \"...\"} or {\"messages\": [...]}", ""});
  }
  return result;
}

// Applies `work` to every line that is not blank and collects all faults.
template <class Work>
void for_lines(const std::filesystem::path& file, Work work) {
  LineFile input(file);
  std::vector<Fault> faults;
  while (const std::optional<LineFile::Line> line = input.next()) {
    if (line->text.find_first_not_of(" \t") == std::string::npos && !line->oversized) continue;
    const std::string where = input.where(line->number);
    try {
      if (line->oversized) throw Error(ExitCode::data, Fault{where, "the line is longer than 64 MiB", "", ""});
      work(line->text, where);
    } catch (const Error& error) {
      if (error.code() != ExitCode::data) throw;
      faults.insert(faults.end(), error.faults().begin(), error.faults().end());
      if (faults.size() >= 20) break;
    }
  }
  if (!faults.empty()) throw Error(ExitCode::data, std::move(faults));
}

}  // namespace

std::vector<TokenLine> read_token_lines(const std::filesystem::path& file, std::int64_t vocabulary) {
  std::vector<TokenLine> lines;
  for_lines(file, [&](const std::string& text, const std::string& where) {
    lines.push_back(parse(text, where, vocabulary));
  });
  return lines;
}

std::vector<std::int32_t> encode_line(const TokenLine& line, const Tokenizer& tokenizer, SpecialText special,
                                      GenerationPrompt generation) {
  if (line.ids) return *line.ids;
  try {
    return line.messages ? encode_chat(tokenizer, *line.messages, generation) : tokenizer.encode(line.text, special);
  } catch (const Error& error) {
    const Fault& fault = error.faults().front();
    throw Error(error.code(), Fault{line.where, fault.found, fault.expected, fault.advice});
  }
}

std::vector<TokenLine> read_encoded_lines(const std::filesystem::path& file, const OpenedModel& model) {
  std::vector<TokenLine> lines;
  for_lines(file, [&](const std::string& text, const std::string& where) {
    TokenLine line = parse(text, where, model.config.vocabulary);
    if (!line.ids && !model.tokenizer) refuse_text(model, where);
    if (!line.ids) line.ids = encode_line(line, *model.tokenizer, SpecialText::as_tokens, GenerationPrompt::none);
    const auto length = static_cast<std::int64_t>(line.ids->size());
    if (length < 1 || length > model.config.context) {
      throw Error(ExitCode::data, Fault{where, fmt::format("the sequence has {} tokens", length),
                                        fmt::format("1 to {} (the model's context)", model.config.context), ""});
    }
    lines.push_back(std::move(line));
  });
  return lines;
}

}  // namespace maxplus
