// Reads tokenizer.json. Its parts are steps of a chain: normalizer, pre_tokenizer, model, decoder; a step that is not
// known here would change ids silently, so it is refused.
#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "text/hf_tokenizer.hpp"
#include "text/utf8.hpp"

namespace maxplus {

namespace {

using PlainJson = nlohmann::json;  // objects are maps: a vocabulary has 10^5 keys

constexpr std::int64_t kMaxTokenId = std::int64_t{1} << 24;
constexpr std::int64_t kIdsWithoutToken = 4096;  // beside one for each token: what a list of tokens may leave out

class HfTokenizerReader {
 public:
  HfTokenizerReader(const PlainJson& json, const std::string& where) : json_(json), where_(where) {}

  BpeDescription read() {
    if (!json_.is_object()) refuse("the file is no object", "an object with \"model\"");
    read_model();
    read_added_tokens();
    read_normalizer(part(json_, "normalizer"));
    read_pre_tokenizer(part(json_, "pre_tokenizer"));
    if (!byte_level_) refuse("the pre_tokenizer has no ByteLevel", "a byte-level tokenizer");
    check_decoder(part(json_, "decoder"));
    return std::move(result_);
  }

 private:
  [[noreturn]] void refuse(std::string found, std::string expected) const {
    throw Error(ExitCode::data, Fault{where_, std::move(found), std::move(expected),
                                      "a model with a byte-level BPE tokenizer; token ids work with any model"});
  }
  [[noreturn]] void refuse_step(std::string_view place, std::string_view type, std::string expected) const {
    refuse(fmt::format("{} of type {} is not supported", place, in_quotes(type)), std::move(expected));
  }
  static const PlainJson& part(const PlainJson& json, const char* key) {
    static const PlainJson none;
    const auto found = json.find(key);
    return found == json.end() ? none : *found;
  }
  static std::string text_of(const PlainJson& json, const char* key) {
    const PlainJson& value = part(json, key);
    return value.is_string() ? value.get<std::string>() : std::string();
  }
  static bool flag_of(const PlainJson& json, const char* key) {
    const PlainJson& value = part(json, key);
    return value.is_boolean() && value.get<bool>();
  }

  std::int32_t id_of(const PlainJson& value, std::string_view token) const {
    if (!value.is_number_integer() || value.get<std::int64_t>() < 0 || value.get<std::int64_t>() >= most_ids_)
      refuse(fmt::format("the token {} has the id {}", in_quotes(token), in_quotes(value.dump())),
             fmt::format("an integer from 0, below {}", most_ids_));
    return value.get<std::int32_t>();
  }
  void set_token(std::int32_t id, const std::string& text) {
    const auto place = static_cast<std::size_t>(id);
    if (place >= result_.tokens.size()) result_.tokens.resize(place + 1);
    result_.tokens[place] = text;
  }

  void read_model();
  void read_merges(const PlainJson& merges);
  void read_added_tokens();
  void read_normalizer(const PlainJson& normalizer);
  void read_pre_tokenizer(const PlainJson& step);
  void read_split(const PlainJson& step);
  void check_decoder(const PlainJson& decoder) const;

  const PlainJson& json_;
  const std::string& where_;
  BpeDescription result_;
  bool byte_level_ = false;
  std::int64_t most_ids_ = 0;
};

void HfTokenizerReader::read_model() {
  const PlainJson& model = part(json_, "model");
  if (!model.is_object()) refuse("there is no \"model\"", "an object with vocab and merges");
  const std::string type = text_of(model, "type");
  if (type != "BPE" && !(type.empty() && model.contains("merges"))) refuse_step("the model", type, "BPE");
  if (flag_of(model, "byte_fallback"))
    refuse("the model uses byte_fallback (SentencePiece), which is not supported", "byte-level BPE");
  for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    if (!text_of(model, key).empty()) refuse(fmt::format("the model has a {}", key), "byte-level BPE without one");
  }
  if (const PlainJson& dropout = part(model, "dropout"); dropout.is_number() && dropout.get<double>() > 0)
    refuse("the model has a dropout", "null: ids would be random");
  const PlainJson& vocabulary = part(model, "vocab");
  if (!vocabulary.is_object() || vocabulary.empty()) refuse("the model has no vocab", "tokens with their ids");
  const auto listed = static_cast<std::int64_t>(vocabulary.size() + part(json_, "added_tokens").size());
  most_ids_ = std::min(kMaxTokenId, 2 * listed + kIdsWithoutToken);
  for (const auto& [token, id] : vocabulary.items()) {
    if (token.empty()) refuse("a token of the vocab is empty", "a text");
    set_token(id_of(id, token), token);
  }
  if (const auto unknown = vocabulary.find(text_of(model, "unk_token")); unknown != vocabulary.end())
    result_.unknown = id_of(*unknown, "unk_token");
  result_.ignore_merges = flag_of(model, "ignore_merges");
  read_merges(part(model, "merges"));
}

void HfTokenizerReader::read_merges(const PlainJson& merges) {
  if (!merges.is_array()) refuse("the model has no merges", "a list of \"a b\" or of [\"a\", \"b\"]");
  result_.merges.reserve(merges.size());
  for (std::size_t m = 0; m < merges.size(); ++m) {
    const PlainJson& merge = merges[m];
    if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string()) {
      result_.merges.emplace_back(merge[0].get<std::string>(), merge[1].get<std::string>());
      continue;
    }
    const std::string text = merge.is_string() ? merge.get<std::string>() : std::string();
    const std::size_t blank = text.find(' ');
    if (blank == std::string::npos || blank == 0 || blank + 1 == text.size() || text.find(' ', blank + 1) != text.npos)
      refuse(fmt::format("merge {} is {}", m, in_quotes(merge.dump(-1, ' ', true))), "\"a b\" or [\"a\", \"b\"]");
    result_.merges.emplace_back(text.substr(0, blank), text.substr(blank + 1));
  }
}

void HfTokenizerReader::read_added_tokens() {
  const PlainJson& added = part(json_, "added_tokens");
  if (added.is_null()) return;
  if (!added.is_array()) refuse("added_tokens is no list", "a list of objects");
  for (const PlainJson& entry : added) {
    AddedToken token;
    token.content = entry.is_object() ? text_of(entry, "content") : std::string();
    if (token.content.empty()) refuse("an added token has no content", "{\"id\", \"content\", ...}");
    token.id = id_of(part(entry, "id"), token.content);
    token.special = flag_of(entry, "special");
    token.strip_left = flag_of(entry, "lstrip");
    token.strip_right = flag_of(entry, "rstrip");
    token.single_word = flag_of(entry, "single_word");
    token.normalized = flag_of(entry, "normalized");
    set_token(token.id, token.content);
    result_.added.push_back(std::move(token));
  }
}

void HfTokenizerReader::read_normalizer(const PlainJson& normalizer) {
  if (normalizer.is_null()) return;
  const std::string type = text_of(normalizer, "type");
  if (type == "NFC") {
    result_.normalizer = TextNormalizer::nfc;
  } else if (type == "Sequence" && part(normalizer, "normalizers").is_array()) {
    for (const PlainJson& step : part(normalizer, "normalizers")) read_normalizer(step);
  } else {
    refuse_step("a normalizer", type, "NFC, or none");
  }
}

void HfTokenizerReader::read_pre_tokenizer(const PlainJson& step) {
  if (step.is_null()) return;
  const std::string type = text_of(step, "type");
  if (type == "Sequence" && part(step, "pretokenizers").is_array()) {
    for (const PlainJson& inner : part(step, "pretokenizers")) read_pre_tokenizer(inner);
    return;
  }
  if (byte_level_) refuse(fmt::format("the pre_tokenizer has {} behind ByteLevel", in_quotes(type)), "ByteLevel last");
  if (type == "ByteLevel") {
    const PlainJson& prefix = part(step, "add_prefix_space");
    if (!prefix.is_boolean() || prefix.get<bool>())
      refuse("the pre_tokenizer ByteLevel has add_prefix_space, which is not supported", "add_prefix_space false");
    const PlainJson& expression = part(step, "use_regex");
    if (!expression.is_boolean() || expression.get<bool>())
      result_.splits.push_back({kGpt2Expression, SplitGaps::keep});
    byte_level_ = true;
  } else if (type == "Digits") {
    result_.splits.push_back(
        {flag_of(step, "individual_digits") ? std::string(kDigitsExpression) : R"(\p{N}+)", SplitGaps::keep});
  } else if (type == "Split") {
    read_split(step);
  } else {
    refuse_step("a pre_tokenizer", type, "Split, Digits, ByteLevel or a Sequence of them");
  }
}

void HfTokenizerReader::read_split(const PlainJson& step) {
  const PlainJson& pattern = part(step, "pattern");
  SplitStep split;
  if (const PlainJson& expression = part(pattern, "Regex"); expression.is_string()) {
    split.expression = expression.get<std::string>();
  } else if (const PlainJson& literal = part(pattern, "String"); literal.is_string()) {
    for (const char c : literal.get<std::string>()) {
      if (std::string_view("\\^$.|?*+()[]{}").find(c) != std::string_view::npos) split.expression += '\\';
      split.expression += c;
    }
  } else {
    refuse("a Split has no pattern", "{\"Regex\": \"...\"} or {\"String\": \"...\"}");
  }
  const std::string behavior = text_of(step, "behavior");
  const bool invert = flag_of(step, "invert");
  if (behavior == "Removed" && invert) {
    split.gaps = SplitGaps::drop;
  } else if (behavior != "Isolated") {
    refuse(fmt::format("a Split has the behavior {}{}, which is not supported", in_quotes(behavior),
                       invert ? " inverted" : ""),
           "Isolated, or Removed inverted");
  }
  result_.splits.push_back(std::move(split));
}

void HfTokenizerReader::check_decoder(const PlainJson& decoder) const {
  if (decoder.is_null()) return;
  const std::string type = text_of(decoder, "type");
  if (type == "Sequence" && part(decoder, "decoders").is_array()) {
    for (const PlainJson& step : part(decoder, "decoders")) check_decoder(step);
  } else if (type != "ByteLevel") {
    refuse_step("a decoder", type, "ByteLevel");
  }
}

}  // namespace

BpeDescription parse_hf_tokenizer(std::string_view text, const std::string& where) {
  PlainJson json;
  try {
    json = PlainJson::parse(text);
  } catch (const PlainJson::parse_error& error) {
    throw Error(ExitCode::data, Fault{where, fmt::format("not valid JSON at byte {}", error.byte), "a tokenizer.json",
                                      "fetch the file again"});
  }
  return HfTokenizerReader(json, where).read();
}

}  // namespace maxplus
