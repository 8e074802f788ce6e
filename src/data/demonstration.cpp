// Demonstrations from a file.
#include "data/demonstration.hpp"

#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/fingerprint.hpp"
#include "data/token_ids.hpp"
#include "text/chat_template.hpp"
#include "text/json_line.hpp"
#include "text/line_file.hpp"
#include "text/utf8.hpp"

namespace maxplus {

namespace {

class DemonstrationList final : public DemonstrationSource {
 public:
  explicit DemonstrationList(std::vector<Demonstration> list) : list_(std::move(list)) {}
  std::int64_t size() const override { return static_cast<std::int64_t>(list_.size()); }
  Demonstration at(std::int64_t number) const override {
    MAXPLUS_REQUIRE(number >= 0 && number < size(), fmt::format("demonstration {} of {}", number, size()));
    return list_[static_cast<std::size_t>(number)];
  }
  std::string hash() const override {
    std::string bytes;
    const auto add = [&bytes](const void* data, std::size_t count) {
      const std::uint64_t length = count;
      bytes.append(reinterpret_cast<const char*>(&length), sizeof length).append(static_cast<const char*>(data), count);
    };
    for (const Demonstration& d : list_) {
      add(d.prompt.data(), d.prompt.size() * sizeof(std::int32_t));
      add(d.response.data(), d.response.size() * sizeof(std::int32_t));
      add(d.weight.data(), d.weight.size() * sizeof(float));
    }
    return fingerprint(bytes);
  }

 private:
  std::vector<Demonstration> list_;
};

[[noreturn]] void bad(const std::string& where, std::string found, std::string expected, std::string advice) {
  throw Error(ExitCode::data, Fault{where, std::move(found), std::move(expected), std::move(advice)});
}

std::vector<std::int32_t> tokens_of(const Json& line, const std::string& key, const Tokenizer& tokenizer,
                                    const std::string& where) {
  std::vector<std::int32_t> ids;
  if (const auto given = line.find(key + "_ids"); given != line.end()) {
    ids = token_ids(*given, key + "_ids", &tokenizer, where);
  } else {
    const auto text = line.find(key);
    if (text == line.end() || !text->is_string()) {
      bad(where, fmt::format("the line has no text '{}'", key), "{\"prompt\": text, \"response\": text}",
          "repair the line");
    }
    try {
      const auto written = text->get<std::string>();
      ids = key == "prompt" ? encode_prompt(tokenizer, written) : tokenizer.encode(written, SpecialText::as_text);
      if (key == "response") ids.push_back(answer_end(tokenizer));
    } catch (const Error& error) {
      Fault fault = error.faults().front();
      fault.where = where;
      throw Error(ExitCode::data, std::move(fault));
    }
  }
  if (ids.empty()) bad(where, fmt::format("the {} is empty", key), "at least one token", "repair or remove the line");
  return ids;
}

std::vector<float> weights_of(const Json& line, std::size_t tokens, const std::string& where) {
  std::vector<float> weights(tokens, 1.0F);
  const auto given = line.find("weights");
  if (given == line.end()) return weights;
  const bool end_left_out = given->is_array() && given->size() + 1 == tokens && !line.contains("response_ids");
  if (!given->is_array() || (given->size() != tokens && !end_left_out)) {
    bad(where, "'weights' does not fit the response", fmt::format("{} numbers, one a response token", tokens),
        "repair the line");
  }
  for (std::size_t i = 0; i < given->size(); ++i) {
    const Json& weight = (*given)[i];
    const float value = weight.is_number() ? weight.get<float>() : -1.0F;
    if (!(value >= 0) || !std::isfinite(value))
      bad(where, fmt::format("the weight {} does not do", in_quotes(weight.dump())), "a finite number from 0",
          "repair the line");
    weights[i] = value;
  }
  return weights;
}

Demonstration read_demonstration(const LineFile::Line& line, const Tokenizer& tokenizer, std::int64_t context,
                                 const std::string& where) {
  if (line.oversized)
    bad(where, "the line is too long", fmt::format("at most {} MiB", kMaxLineBytes >> 20), "shorten it");
  const Json json = parse_json_object(line.text, where);
  Demonstration d;
  d.prompt = tokens_of(json, "prompt", tokenizer, where);
  d.response = tokens_of(json, "response", tokenizer, where);
  d.weight = weights_of(json, d.response.size(), where);
  const auto length = static_cast<std::int64_t>(d.prompt.size() + d.response.size());
  if (context > 0 && length > context) {
    bad(where, fmt::format("prompt and response have {} tokens", length),
        fmt::format("at most {}, the context", context), "shorten it, or a longer context");
  }
  return d;
}

}  // namespace

LoadedDemonstrations load_demonstrations(const std::filesystem::path& path,
                                         const std::shared_ptr<const Tokenizer>& tokenizer, std::int64_t context,
                                         OnBadLine on_bad_line) {
  MAXPLUS_REQUIRE(tokenizer != nullptr, "demonstrations need a tokenizer");
  LineFile file(path);
  BadLines bad_lines(on_bad_line);
  std::vector<Demonstration> list;
  LoadedDemonstrations loaded;
  while (const auto line = file.next()) {
    if (!line->oversized && trimmed(line->text).empty()) continue;
    ++loaded.lines;
    try {
      Demonstration d = read_demonstration(*line, *tokenizer, context, file.where(line->number));
      d.number = static_cast<std::int64_t>(list.size());
      list.push_back(std::move(d));
    } catch (const Error& error) {
      bad_lines.add(error.faults().front());
    }
  }
  bad_lines.set_lines(loaded.lines);
  bad_lines.finish();
  if (list.empty()) {
    throw Error(ExitCode::data, Fault{file.where(1),
                                      loaded.lines == 0 ? "the file holds no demonstration"
                                                        : fmt::format("no line can be used: {}", bad_lines.summary()),
                                      "at least one line {\"prompt\": …, \"response\": …}", "check the path"});
  }
  loaded.skipped = bad_lines.count();
  loaded.skip_summary = bad_lines.summary();
  loaded.source = std::make_shared<DemonstrationList>(std::move(list));
  return loaded;
}

}  // namespace maxplus
