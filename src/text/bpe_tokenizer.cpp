// The byte-level BPE tokenizer: added tokens are found, the rest is normalised, split into words, and each word
// encoded.
#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "text/added_tokens.hpp"
#include "text/bpe_description.hpp"
#include "text/bpe_vocabulary.hpp"
#include "text/nfc.hpp"
#include "text/utf8.hpp"

namespace maxplus {

namespace {

[[noreturn]] void refuse_bpe(const std::string& where, std::string found, std::string expected) {
  throw Error(ExitCode::data,
              Fault{where, std::move(found), std::move(expected), "take the tokenizer as its publisher wrote it"});
}

std::vector<AddedToken> added_with(const std::vector<AddedToken>& tokens, TextNormalizer normalizer, bool normalized) {
  std::vector<AddedToken> chosen;
  for (const AddedToken& token : tokens) {
    if (token.normalized != normalized) continue;
    chosen.push_back(token);
    if (normalized && normalizer == TextNormalizer::nfc) chosen.back().content = nfc(token.content);
  }
  return chosen;
}

class BpeTokenizer final : public Tokenizer {
 public:
  BpeTokenizer(BpeDescription description, std::vector<std::string> bytes, BpeVocabulary vocabulary,
               const std::string& where)
      : description_(std::move(description)),
        bytes_(std::move(bytes)),
        vocabulary_(std::move(vocabulary)),
        raw_added_(added_with(description_.added, description_.normalizer, false)),
        normalized_added_(added_with(description_.added, description_.normalizer, true)),
        special_(bytes_.size()) {
    set_chat();
    for (const SplitStep& step : description_.splits) patterns_.emplace_back(step.expression, where);
    for (const AddedToken& token : description_.added) {
      special_[static_cast<std::size_t>(token.id)] = token.special;
      added_ids_.emplace(token.content, token.id);
    }
  }

  BpeTokenizer(const BpeTokenizer& other, ChatSettings settings) : BpeTokenizer(other) {
    description_.chat = std::move(settings);
    set_chat();
  }

  std::vector<std::int32_t> encode(std::string_view text, SpecialText special) const override {
    const TextPart part{std::string(text), special};
    return encode_parts({&part, 1});
  }
  std::vector<std::int32_t> encode_parts(std::span<const TextPart> parts) const override;

  std::string decode(std::span<const std::int32_t> ids) const override {
    std::string all;
    for (const std::int32_t id : ids) all += token_bytes(id);
    return lossy_utf8(all);
  }
  std::string bytes(std::int32_t id) const override { return token_bytes(id); }
  const std::string& token_bytes(std::int32_t id) const {
    if (!contains(id)) {
      throw Error(ExitCode::data,
                  Fault{"", fmt::format("the token id {} is outside the vocabulary", id),
                        fmt::format("ids from 0 to {}", vocabulary_size() - 1), "use the tokenizer of the model"});
    }
    return bytes_[static_cast<std::size_t>(id)];
  }
  std::optional<std::int32_t> id_of(std::string_view piece) const override {
    if (const auto added = added_ids_.find(std::string(piece)); added != added_ids_.end()) return added->second;
    const std::int32_t id = vocabulary_.find(piece);
    return id < 0 ? std::nullopt : std::optional(id);
  }
  std::int64_t vocabulary_size() const override { return static_cast<std::int64_t>(bytes_.size()); }
  std::int32_t end_token() const override { return description_.end.value_or(-1); }
  std::optional<std::int32_t> begin_token() const override { return description_.begin; }
  bool is_special(std::int32_t id) const override { return contains(id) && special_[static_cast<std::size_t>(id)]; }
  const ChatTemplate* chat() const override { return chat_.get(); }
  Json to_json() const override { return description_to_json(description_); }
  const BpeDescription& description() const { return description_; }

 private:
  void set_chat() {
    chat_ = make_chat_template(description_.chat, description_.chat_template,
                               description_.begin ? token_bytes(*description_.begin) : std::string());
  }
  struct Span {
    std::size_t begin, end;
  };
  void encode_between(std::string_view text, const AddedTokenFinder::Permission& permission,
                      std::vector<std::int32_t>& ids) const;
  void encode_words(std::string_view text, std::vector<std::int32_t>& ids) const;

  BpeDescription description_;
  std::vector<std::string> bytes_;
  BpeVocabulary vocabulary_;
  AddedTokenFinder raw_added_, normalized_added_;
  std::vector<SplitPattern> patterns_;
  std::vector<bool> special_;
  std::shared_ptr<const ChatTemplate> chat_;
  std::unordered_map<std::string, std::int32_t> added_ids_;
};

std::vector<std::int32_t> BpeTokenizer::encode_parts(std::span<const TextPart> parts) const {
  std::string joined;
  std::vector<Span> meant;  // where special tokens are ones; neighbours are one stretch
  for (const TextPart& part : parts) {
    if (part.special == SpecialText::as_tokens) {
      if (!meant.empty() && meant.back().end == joined.size()) {
        meant.back().end += part.text.size();
      } else {
        meant.push_back({joined.size(), joined.size() + part.text.size()});
      }
    }
    joined += part.text;
  }
  if (const auto bad = first_invalid_utf8(joined)) {
    throw Error(ExitCode::data, Fault{"", fmt::format("the text is not valid UTF-8 at byte {}", *bad), "UTF-8",
                                      "convert the file, for example with iconv"});
  }
  const auto permitted = [&meant](std::size_t begin, std::size_t end) {
    const auto after = std::upper_bound(meant.begin(), meant.end(), begin,
                                        [](std::size_t at, const Span& span) { return at < span.begin; });
    return after != meant.begin() && std::prev(after)->end >= end;
  };
  std::vector<std::int32_t> ids;
  std::size_t done = 0;
  const std::string_view text = joined;
  const auto between = [&](std::size_t end) {
    if (done == end) return;
    const std::size_t offset = done;
    const std::string_view part = text.substr(offset, end - offset);
    if (description_.normalizer == TextNormalizer::none) {
      encode_between(
          part, [&](std::size_t b, std::size_t e) { return permitted(offset + b, offset + e); }, ids);
      return;
    }
    // Places are lost by normalisation: then a special token is one only if all of the text means them.
    const std::string normal = nfc(part);
    const bool same = normal == part, all = permitted(offset, end);
    encode_between(
        normal, [&](std::size_t b, std::size_t e) { return all || (same && permitted(offset + b, offset + e)); }, ids);
  };
  for (const AddedTokenFinder::Match& match : raw_added_.find_all(text, permitted)) {
    between(match.begin);
    ids.push_back(match.id);
    done = match.end;
  }
  between(text.size());
  return ids;
}

void BpeTokenizer::encode_between(std::string_view text, const AddedTokenFinder::Permission& permission,
                                  std::vector<std::int32_t>& ids) const {
  std::size_t done = 0;
  if (!normalized_added_.empty()) {
    for (const AddedTokenFinder::Match& match : normalized_added_.find_all(text, permission)) {
      encode_words(text.substr(done, match.begin - done), ids);
      ids.push_back(match.id);
      done = match.end;
    }
  }
  encode_words(text.substr(done), ids);
}

void BpeTokenizer::encode_words(std::string_view text, std::vector<std::int32_t>& ids) const {
  if (text.empty()) return;
  std::vector<std::pair<std::size_t, std::size_t>> words = {{0, text.size()}}, finer;
  for (std::size_t step = 0; step < patterns_.size(); ++step) {
    finer.clear();
    for (const auto& [begin, end] : words)
      split_words_by(patterns_[step], description_.splits[step].gaps, text, begin, end, finer);
    words.swap(finer);
  }
  const std::size_t first = ids.size();
  for (const auto& [begin, end] : words) vocabulary_.encode(text.substr(begin, end - begin), ids);
  for (std::size_t i = first; i < ids.size(); ++i) {
    if (ids[i] >= 0) continue;
    if (!description_.unknown) {
      throw Error(ExitCode::data,
                  Fault{"", fmt::format("the tokenizer has no token for the byte 0x{:02X}", -1 - ids[i]),
                        "a vocabulary with all bytes", "a text without it"});
    }
    ids[i] = *description_.unknown;
  }
}

void check_id(std::optional<std::int32_t> id, std::size_t tokens, std::string_view what, const std::string& where) {
  if (id && (*id < 0 || static_cast<std::size_t>(*id) >= tokens))
    refuse_bpe(where, fmt::format("the {} token has the id {}", what, *id), fmt::format("0 to {}", tokens - 1));
}

std::vector<BpeVocabulary::Merge> merges_of(const BpeDescription& d, const std::string& where) {
  std::unordered_map<std::string_view, std::int32_t> ids;
  ids.reserve(d.tokens.size());
  for (std::size_t id = 0; id < d.tokens.size(); ++id)
    if (!d.tokens[id].empty()) ids.emplace(d.tokens[id], static_cast<std::int32_t>(id));
  std::vector<BpeVocabulary::Merge> merges;
  merges.reserve(d.merges.size());
  std::string whole;
  for (std::size_t m = 0; m < d.merges.size(); ++m) {
    const auto& [left, right] = d.merges[m];
    whole = left + right;
    const auto a = ids.find(left), b = ids.find(right), c = ids.find(whole);
    if (a == ids.end() || b == ids.end() || c == ids.end()) {
      const std::string& missing = a == ids.end() ? left : b == ids.end() ? right : whole;
      refuse_bpe(where,
                 fmt::format("merge {} makes {} of {} and {}, and {} is no token", m, in_quotes(whole), in_quotes(left),
                             in_quotes(right), in_quotes(missing)),
                 "merges of tokens into tokens");
    }
    merges.push_back({a->second, b->second, c->second});
  }
  return merges;
}

}  // namespace

void pad_vocabulary(BpeDescription& description, std::int64_t vocabulary) {
  if (static_cast<std::int64_t>(description.tokens.size()) < vocabulary)
    description.tokens.resize(static_cast<std::size_t>(vocabulary));
}

std::shared_ptr<const Tokenizer> make_bpe_tokenizer(BpeDescription description, const std::string& where) {
  if (description.tokens.empty()) refuse_bpe(where, "the tokenizer has no tokens", "a vocabulary");
  check_id(description.begin, description.tokens.size(), "begin", where);
  check_id(description.end, description.tokens.size(), "end", where);
  for (const std::int32_t id : description.stop) check_id(id, description.tokens.size(), "stop", where);
  check_id(description.unknown, description.tokens.size(), "unknown", where);
  const std::vector<BpeVocabulary::Merge> merges = merges_of(description, where);
  std::vector<std::string> bytes(description.tokens.size()), words(description.tokens.size());
  for (std::size_t id = 0; id < description.tokens.size(); ++id) {
    const std::string& text = description.tokens[id];
    if (first_invalid_utf8(text)) refuse_bpe(where, fmt::format("token {} is not valid UTF-8", id), "UTF-8");
    const std::optional<std::string> known = bytes_of_alphabet(text);
    bytes[id] = known.value_or(text);
    if (known) words[id] = *known;
  }
  for (const AddedToken& token : description.added) {
    check_id(token.id, description.tokens.size(), "added", where);
    if (token.content.empty() || first_invalid_utf8(token.content))
      refuse_bpe(where, fmt::format("the added token {} is empty or not valid UTF-8", token.id), "a text");
    bytes[static_cast<std::size_t>(token.id)] = token.content;
    words[static_cast<std::size_t>(token.id)].clear();  // found in the text, never made of a word
  }
  using Words = BpeVocabulary::WholeWords;
  BpeVocabulary vocabulary(std::move(words), merges, description.ignore_merges ? Words::always : Words::by_merges);
  return std::make_shared<BpeTokenizer>(std::move(description), std::move(bytes), std::move(vocabulary), where);
}

std::shared_ptr<const Tokenizer> with_chat(const std::shared_ptr<const Tokenizer>& tokenizer, ChatSettings settings) {
  if (const auto* bpe = dynamic_cast<const BpeTokenizer*>(tokenizer.get()))
    return std::make_shared<BpeTokenizer>(*bpe, std::move(settings));
  if (settings.format != "auto" && settings.format != "raw") {
    throw Error(ExitCode::config,
                Fault{"", fmt::format("chat_template = \"{}\" does not go with this tokenizer", settings.format),
                      "a published tokenizer, which has the tokens of a template", "chat_template = \"raw\""});
  }
  return tokenizer;
}

const BpeDescription* bpe_description_of(const Tokenizer& tokenizer) {
  const auto* bpe = dynamic_cast<const BpeTokenizer*>(&tokenizer);
  return bpe == nullptr ? nullptr : &bpe->description();
}

}  // namespace maxplus
