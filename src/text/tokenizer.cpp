// What every kind of tokenizer has: pieces for people, the hash, and how one is made from a deck or a checkpoint.
#include "text/tokenizer.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/fingerprint.hpp"
#include "text/bpe_description.hpp"
#include "text/utf8.hpp"

namespace maxplus {

std::string Tokenizer::piece(std::int32_t id) const { return printable_bytes(bytes(id)); }

std::vector<std::int32_t> Tokenizer::encode_parts(std::span<const TextPart> parts) const {
  std::vector<std::int32_t> ids;
  for (const TextPart& part : parts) {
    const std::vector<std::int32_t> more = encode(part.text, part.special);
    ids.insert(ids.end(), more.begin(), more.end());
  }
  return ids;
}

std::string Tokenizer::hash() const { return fingerprint(to_json().dump()); }

std::shared_ptr<const Tokenizer> tokenizer_from_keys(std::string_view kind, std::string_view alphabet,
                                                     std::string_view words, const std::string& where) {
  std::vector<Fault> faults;
  if (kind != "characters" && kind != "words") {
    faults.push_back({where, fmt::format("[tokenizer] kind = {} is not known", in_quotes(kind)),
                      "\"characters\" or \"words\"",
                      "kind = \"characters\" with alphabet = \"…\", or kind = \"words\" with words = \"…\""});
  }
  if (kind == "characters" && !words.empty()) {
    faults.push_back(
        {where, "[tokenizer] words does not go with kind = \"characters\"", "alphabet only", "remove words"});
  }
  if (kind == "words" && !alphabet.empty()) {
    faults.push_back(
        {where, "[tokenizer] alphabet does not go with kind = \"words\"", "words only", "remove alphabet"});
  }
  std::shared_ptr<const Tokenizer> tokenizer;
  try {
    if (kind == "characters") tokenizer = make_character_tokenizer(alphabet);
    if (kind == "words") tokenizer = make_word_tokenizer(words);
  } catch (const Error& error) {
    for (Fault fault : error.faults()) {
      fault.where = where;
      faults.push_back(std::move(fault));
    }
  }
  if (!faults.empty()) throw Error(ExitCode::config, std::move(faults));
  return tokenizer;
}

std::shared_ptr<const Tokenizer> tokenizer_from_json(const Json& json) {
  const auto text = [&json](const char* key) {
    if (!json.is_object() || !json.contains(key) || !json[key].is_string()) {
      throw Error(ExitCode::data, Fault{"", fmt::format("the stored tokenizer has no text '{}'", key),
                                        "kind, and alphabet or words", "take a checkpoint that is whole"});
    }
    return json[key].get<std::string>();
  };
  const std::string kind = text("kind");
  try {
    if (kind == "characters") return make_character_tokenizer(text("alphabet"));
    if (kind == "words") return make_word_tokenizer(text("words"));
    if (kind == "bpe") return make_bpe_tokenizer(description_from_json(json), "the stored tokenizer");
  } catch (const Error& error) {
    throw Error(ExitCode::data, error.faults());
  }
  throw Error(ExitCode::data, Fault{"", fmt::format("the stored tokenizer is of the unknown kind {}", in_quotes(kind)),
                                    "characters, words or bpe", "use the version of maxplus that wrote it"});
}

}  // namespace maxplus
