// The files around tokenizer.json, and writing all of them.
#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "io/file.hpp"
#include "text/hf_tokenizer.hpp"
#include "text/utf8.hpp"

namespace maxplus {

namespace {

using FolderJson = nlohmann::ordered_json;

// An object, or null if there is no such file.
FolderJson read_object(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return {};
  const MappedFile file(path);
  FolderJson json = FolderJson::parse(file.text(), nullptr, false);
  if (!json.is_object())
    throw Error(ExitCode::data, Fault{path.string(), "the file is no JSON object", "{...}", "fetch the file again"});
  return json;
}

// "<eos>", {"content": "<eos>", ...} or nothing.
std::string token_text(const FolderJson& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end()) return {};
  if (found->is_string()) return found->get<std::string>();
  return found->is_object() && found->contains("content") && (*found)["content"].is_string()
             ? (*found)["content"].get<std::string>()
             : std::string();
}

std::optional<std::int32_t> id_of_token(const BpeDescription& description, const std::string& text) {
  if (text.empty()) return std::nullopt;
  for (const AddedToken& token : description.added)
    if (token.content == text) return token.id;
  const auto found = std::find(description.tokens.begin(), description.tokens.end(), text);
  if (found == description.tokens.end()) return std::nullopt;
  return static_cast<std::int32_t>(found - description.tokens.begin());
}

// One template, or the one named "default" of several.
std::string template_of(const FolderJson& config) {
  const auto found = config.find("chat_template");
  if (found == config.end()) return {};
  if (found->is_string()) return found->get<std::string>();
  if (!found->is_array()) return {};
  for (const FolderJson& entry : *found) {
    if (entry.is_object() && entry.value("name", std::string()) == "default")
      return entry.value("template", std::string());
  }
  return {};
}

void add_stops(const FolderJson& config, std::vector<std::int32_t>& stop) {
  const auto found = config.find("eos_token_id");
  if (found == config.end()) return;
  for (const FolderJson& id : found->is_array() ? *found : FolderJson::array({*found})) {
    if (!id.is_number_integer()) continue;
    const auto token = id.get<std::int32_t>();
    if (std::find(stop.begin(), stop.end(), token) == stop.end()) stop.push_back(token);
  }
}

// Where no file names the end token: what published models call it.
std::optional<std::int32_t> usual_end_token(const BpeDescription& description) {
  for (const char* name : {"<|im_end|>", "<|eot_id|>", "<|endoftext|>", "<|end_of_text|>", "<|return|>",
                           "<｜end▁of▁sentence｜>", "</s>", "<eos>"}) {
    for (const AddedToken& token : description.added)
      if (token.content == name) return token.id;
  }
  return std::nullopt;
}

FolderJson added_json(const AddedToken& token) {
  return {{"id", token.id},
          {"content", token.content},
          {"single_word", token.single_word},
          {"lstrip", token.strip_left},
          {"rstrip", token.strip_right},
          {"normalized", token.normalized},
          {"special", token.special}};
}

FolderJson pre_tokenizer_json(const BpeDescription& description) {
  FolderJson steps = FolderJson::array();
  for (const SplitStep& step : description.splits) {
    const bool keep = step.gaps == SplitGaps::keep;
    steps.push_back({{"type", "Split"},
                     {"pattern", {{"Regex", step.expression}}},
                     {"behavior", keep ? "Isolated" : "Removed"},
                     {"invert", !keep}});
  }
  steps.push_back({{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", false}});
  return {{"type", "Sequence"}, {"pretokenizers", std::move(steps)}};
}

// Which tokens the vocabulary lists. Readers number added tokens that it does not list from its end on, whatever id
// they have: so only those that stand there without a gap may be left out, as published files do.
std::vector<bool> listed_tokens(const BpeDescription& description) {
  const std::size_t count = description.tokens.size();
  std::vector<bool> exists(count), ordinary(count);
  for (std::size_t id = 0; id < count; ++id) exists[id] = ordinary[id] = !description.tokens[id].empty();
  for (const AddedToken& token : description.added) ordinary[static_cast<std::size_t>(token.id)] = false;
  std::size_t end = count;  // behind the last ordinary token
  while (end > 0 && !ordinary[end - 1]) --end;
  std::size_t last = count;  // behind the last token
  while (last > 0 && !exists[last - 1]) --last;
  const auto at = [&](std::size_t id) { return exists.begin() + static_cast<std::ptrdiff_t>(id); };
  if (std::all_of(exists.begin(), at(last), [](bool there) { return there; })) std::fill(at(end), exists.end(), false);
  return exists;
}

FolderJson model_json(const BpeDescription& description) {
  FolderJson::object_t vocabulary;  // ids are distinct, and so are tokens: no key is looked up
  const std::vector<bool> listed = listed_tokens(description);
  for (std::size_t id = 0; id < description.tokens.size(); ++id) {
    if (listed[id])
      vocabulary.std::vector<std::pair<const std::string, FolderJson>>::emplace_back(description.tokens[id], id);
  }
  FolderJson merges = FolderJson::array();
  for (const auto& [left, right] : description.merges) merges.push_back(FolderJson::array({left, right}));
  FolderJson model = {{"type", "BPE"},
                      {"dropout", nullptr},
                      {"unk_token", nullptr},
                      {"continuing_subword_prefix", nullptr},
                      {"end_of_word_suffix", nullptr},
                      {"fuse_unk", false},
                      {"byte_fallback", false},
                      {"ignore_merges", description.ignore_merges}};
  if (description.unknown) model["unk_token"] = description.tokens[static_cast<std::size_t>(*description.unknown)];
  model["vocab"] = std::move(vocabulary);
  model["merges"] = std::move(merges);
  return model;
}

FolderJson config_json(const BpeDescription& description) {
  FolderJson config = {{"tokenizer_class", "PreTrainedTokenizerFast"}, {"clean_up_tokenization_spaces", false}};
  const auto name = [&](const char* key, std::optional<std::int32_t> id) {
    if (id) config[key] = description.tokens[static_cast<std::size_t>(*id)];
  };
  name("bos_token", description.begin);
  name("eos_token", description.end);
  name("pad_token", description.padding);
  name("unk_token", description.unknown);
  if (!description.chat_template.empty()) config["chat_template"] = description.chat_template;
  return config;
}

}  // namespace

bool has_hf_tokenizer(const std::filesystem::path& folder) {
  std::error_code error;
  return std::filesystem::is_regular_file(folder / "tokenizer.json", error);
}

PublishedTokenizer read_hf_tokenizer(const std::filesystem::path& path) {
  std::error_code error;
  const bool is_folder = std::filesystem::is_directory(path, error);
  const std::filesystem::path file = is_folder ? path / "tokenizer.json" : path;
  const std::filesystem::path folder = file.parent_path();
  PublishedTokenizer result;
  result.where = file.string();
  const MappedFile text(file);
  BpeDescription& description = result.description;
  description = parse_hf_tokenizer(text.text(), result.where);
  const FolderJson config = read_object(folder / "tokenizer_config.json");
  if (config.is_object()) {
    description.begin = id_of_token(description, token_text(config, "bos_token"));
    description.end = id_of_token(description, token_text(config, "eos_token"));
    description.padding = id_of_token(description, token_text(config, "pad_token"));
    description.chat_template = template_of(config);
  }
  if (const std::filesystem::path jinja = folder / "chat_template.jinja";
      std::filesystem::is_regular_file(jinja, error))
    description.chat_template = std::string(MappedFile(jinja).text());
  if (first_invalid_utf8(description.chat_template))
    throw Error(ExitCode::data, Fault{folder.string(), "the chat template is not valid UTF-8", "UTF-8", ""});
  for (const char* name : {"generation_config.json", "config.json"}) {
    if (const FolderJson json = read_object(folder / name); json.is_object()) add_stops(json, result.stop);
  }
  std::erase_if(result.stop,
                [&](std::int32_t id) { return id < 0 || static_cast<std::size_t>(id) >= description.tokens.size(); });
  if (!description.end && !result.stop.empty()) description.end = result.stop.front();
  if (!description.end) description.end = usual_end_token(description);
  if (description.end) {
    std::erase(result.stop, *description.end);
    result.stop.insert(result.stop.begin(), *description.end);
  }
  description.stop = result.stop;
  return result;
}

void write_hf_tokenizer(const BpeDescription& description, const std::filesystem::path& folder) {
  FolderJson added = FolderJson::array();
  for (const AddedToken& token : description.added) added.push_back(added_json(token));
  FolderJson json = {{"version", "1.0"}, {"truncation", nullptr}, {"padding", nullptr}, {"added_tokens", added}};
  json["normalizer"] =
      description.normalizer == TextNormalizer::nfc ? FolderJson{{"type", "NFC"}} : FolderJson(nullptr);
  json["pre_tokenizer"] = pre_tokenizer_json(description);
  json["post_processor"] = nullptr;
  json["decoder"] = {{"type", "ByteLevel"}, {"add_prefix_space", true}, {"trim_offsets", true}, {"use_regex", true}};
  json["model"] = model_json(description);
  write_text_file(folder / "tokenizer.json", json.dump(1, ' ') + "\n");
  write_text_file(folder / "tokenizer_config.json", config_json(description).dump(2) + "\n");
  if (!description.chat_template.empty()) write_text_file(folder / "chat_template.jinja", description.chat_template);
}

}  // namespace maxplus
