// The table of presets, and the few formats whose lines say something in another form.
#include "data/preset.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "text/utf8.hpp"

namespace maxplus {

namespace {

// {"completion", "label"} of an answer that was marked: our name for it is "response".
void name_response(Json& line) {
  if (!line.contains("completion") || line.contains("response")) return;
  Json response = line["completion"];
  line.erase("completion");
  line["response"] = std::move(response);
}

// "... so it is 1,234.\n#### 1,234" is "1234".
void take_marked_number(Json& line) {
  constexpr std::string_view kMark = "####";
  const auto answer = line.find("answer");
  if (answer == line.end() || !answer->is_string()) return;
  const std::string_view text = answer->get_ref<const std::string&>();
  const std::size_t mark = text.rfind(kMark);
  if (mark == std::string_view::npos) return;
  std::string number;
  for (const char c : trimmed(text.substr(mark + kMark.size())))
    if (c != ',') number += c;
  *answer = number;
}

// {"nums": [44, 19, 35], "target": 98} asks for an expression; a prompt that is there stays.
void ask_for_target(Json& line) {
  const Json* numbers = find_field(line, {"nums", "numbers"});
  const Json* target = find_field(line, {"target"});
  if (numbers == nullptr || target == nullptr || !numbers->is_array()) return;
  Json answer = {{"numbers", *numbers}, {"target", *target}};
  if (!line.contains("prompt") && !line.contains("prompt_ids")) {
    std::string listed;
    for (const Json& number : *numbers) listed += (listed.empty() ? "" : ", ") + number.dump();
    line["prompt"] = fmt::format(
        "Using the numbers {}, write an expression that equals {}. Use + - * / and parentheses, and each number "
        "exactly "
        "once. Think step by step, then give the expression in <answer> </answer> tags, for example "
        "<answer>(1 + 2) / 3</answer>.",
        listed, target->dump());
  }
  line["answer"] = std::move(answer);
}

const Json* at_path(const Json& line, std::string_view path) {
  const Json* value = &line;
  while (true) {
    if (!value->is_object()) return nullptr;
    if (const auto whole = value->find(std::string(path)); whole != value->end()) return &*whole;
    const std::size_t dot = path.find('.');
    if (dot == std::string_view::npos) return nullptr;
    const auto outer = value->find(std::string(path.substr(0, dot)));
    if (outer == value->end()) return nullptr;
    value = &*outer;
    path.remove_prefix(dot + 1);
  }
}

ProblemFields fields_of(std::vector<std::string> prompt, std::vector<std::string> answer, std::vector<std::string> id) {
  ProblemFields fields;
  fields.prompt = std::move(prompt);
  fields.answer = std::move(answer);
  fields.id = std::move(id);
  return fields;
}

}  // namespace

const std::vector<Preset>& presets() {
  static const std::vector<Preset> entries = {
      {"verl", fields_of({"prompt"}, {"reward_model.ground_truth"}, {"extra_info.index"}), "", nullptr},
      {"trl", fields_of({"prompt"}, {"solution", "ground_truth", "answer"}, {"id"}), "", name_response},
      {"openrlhf",
       fields_of({"input", "context_messages", "message", "prompt"}, {"label", "answer", "ground_truth"}, {"id"}), "",
       nullptr},
      {"gsm8k", fields_of({"question"}, {"answer"}, {"id"}), "number", take_marked_number},
      {"countdown", fields_of({"prompt"}, {"answer"}, {"id"}), "countdown", ask_for_target},
      {"reasoning_gym", fields_of({"question"}, {"answer"}, {"id", "metadata.source_index"}), "exact", nullptr},
  };
  return entries;
}

const Preset* find_preset(std::string_view name) {
  for (const Preset& preset : presets()) {
    if (preset.name == name) return &preset;
  }
  return nullptr;
}

const Json* find_field(const Json& line, const std::vector<std::string>& names) {
  const Json* null = nullptr;
  for (const std::string& name : names) {
    const Json* value = at_path(line, name);
    if (value != nullptr && !value->is_null()) return value;
    if (null == nullptr) null = value;
  }
  return null;
}

std::string names_of_field(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : " or ") + in_quotes(name);
  return text;
}

}  // namespace maxplus
