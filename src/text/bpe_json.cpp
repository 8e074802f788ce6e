// A tokenizer's description as JSON, the form that checkpoints carry. Lists only: objects with 10^5 keys are slow.
#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "text/bpe_description.hpp"

namespace maxplus {

namespace {

constexpr const char* kGapsKept = "keep";
constexpr const char* kGapsDropped = "drop";

std::optional<std::int32_t> stored_id(const Json& json, const char* key) {
  return json.contains(key) ? std::optional(json.at(key).get<std::int32_t>()) : std::nullopt;
}

void store_id(Json& json, const char* key, std::optional<std::int32_t> id) {
  if (id) json[key] = *id;
}

Json chat_to_json(const ChatSettings& chat) {
  return {{"format", chat.format}, {"thinking", chat.thinking},     {"date", chat.date},
          {"begin", chat.begin},   {"generation", chat.generation}, {"system", chat.system},
          {"user", chat.user},     {"assistant", chat.assistant}};
}

ChatSettings stored_chat(const Json& json) {
  ChatSettings chat;
  json.at("format").get_to(chat.format);
  json.at("thinking").get_to(chat.thinking);
  json.at("date").get_to(chat.date);
  json.at("begin").get_to(chat.begin);
  json.at("generation").get_to(chat.generation);
  json.at("system").get_to(chat.system);
  json.at("user").get_to(chat.user);
  json.at("assistant").get_to(chat.assistant);
  const std::vector<std::string>& names = chat_format_names();
  const bool known = chat.format == "auto" || chat.format == "raw" || chat.format == "literal" ||
                     std::find(names.begin(), names.end(), chat.format) != names.end();
  const auto pair_or_none = [](const std::vector<std::string>& around) { return around.empty() || around.size() == 2; };
  if (!known || !pair_or_none(chat.system) || !pair_or_none(chat.user) || !pair_or_none(chat.assistant)) {
    throw Error(ExitCode::data, Fault{"", fmt::format("the stored tokenizer writes chats as '{}'", chat.format),
                                      "a known format", "use the version of maxplus that wrote it"});
  }
  return chat;
}

BpeDescription stored_description(const Json& json) {
  BpeDescription d;
  d.tokens = json.at("tokens").get<std::vector<std::string>>();
  const auto merges = json.at("merges").get<std::vector<std::string>>();
  for (std::size_t i = 0; i + 1 < merges.size(); i += 2) d.merges.emplace_back(merges[i], merges[i + 1]);
  for (const Json& entry : json.at("added")) {
    AddedToken token;
    token.id = entry.at("id").get<std::int32_t>();
    token.content = entry.at("content").get<std::string>();
    token.special = entry.at("special").get<bool>();
    token.strip_left = entry.at("strip_left").get<bool>();
    token.strip_right = entry.at("strip_right").get<bool>();
    token.single_word = entry.at("single_word").get<bool>();
    token.normalized = entry.at("normalized").get<bool>();
    d.added.push_back(std::move(token));
  }
  for (const Json& step : json.at("splits")) {
    d.splits.push_back({step.at("expression").get<std::string>(),
                        step.at("gaps").get<std::string>() == kGapsDropped ? SplitGaps::drop : SplitGaps::keep});
  }
  d.normalizer = json.at("normalizer").get<std::string>() == "nfc" ? TextNormalizer::nfc : TextNormalizer::none;
  d.ignore_merges = json.at("ignore_merges").get<bool>();
  d.begin = stored_id(json, "begin");
  d.end = stored_id(json, "end");
  d.unknown = stored_id(json, "unknown");
  d.padding = stored_id(json, "padding");
  d.stop = json.value("stop", std::vector<std::int32_t>());
  d.chat_template = json.at("chat_template").get<std::string>();
  d.chat = stored_chat(json.at("chat"));
  return d;
}

}  // namespace

Json description_to_json(const BpeDescription& d) {
  Json json = {{"kind", "bpe"}};
  json["normalizer"] = d.normalizer == TextNormalizer::nfc ? "nfc" : "none";
  json["ignore_merges"] = d.ignore_merges;
  store_id(json, "begin", d.begin);
  store_id(json, "end", d.end);
  store_id(json, "unknown", d.unknown);
  store_id(json, "padding", d.padding);
  json["stop"] = d.stop;
  json["chat_template"] = d.chat_template;
  json["chat"] = chat_to_json(d.chat);
  json["splits"] = Json::array();
  for (const SplitStep& step : d.splits)
    json["splits"].push_back(
        {{"expression", step.expression}, {"gaps", step.gaps == SplitGaps::drop ? kGapsDropped : kGapsKept}});
  json["added"] = Json::array();
  for (const AddedToken& token : d.added) {
    json["added"].push_back({{"id", token.id},
                             {"content", token.content},
                             {"special", token.special},
                             {"strip_left", token.strip_left},
                             {"strip_right", token.strip_right},
                             {"single_word", token.single_word},
                             {"normalized", token.normalized}});
  }
  json["tokens"] = d.tokens;
  Json merges = Json::array();
  for (const auto& [left, right] : d.merges) {
    merges.push_back(left);
    merges.push_back(right);
  }
  json["merges"] = std::move(merges);
  return json;
}

BpeDescription description_from_json(const Json& json) {
  try {
    return stored_description(json);
  } catch (const nlohmann::json::exception& error) {
    throw Error(ExitCode::data, Fault{"", fmt::format("the stored tokenizer cannot be read: {}", error.what()),
                                      "what to_json wrote", "take a checkpoint that is whole"});
  }
}

}  // namespace maxplus
