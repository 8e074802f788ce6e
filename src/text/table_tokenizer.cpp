// The two tokenizers for models trained from scratch: one token a character of an alphabet, or one a word of a list.
#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "text/tokenizer.hpp"
#include "text/utf8.hpp"

namespace maxplus {

namespace {

constexpr std::string_view kEnd = "<eos>";

[[noreturn]] void fail_unknown(std::string_view what, std::string_view found, std::size_t offset, std::size_t known) {
  throw Error(
      ExitCode::data,
      Fault{"", fmt::format("the {} {} at byte {} is unknown to the tokenizer", what, in_quotes(found), offset),
            fmt::format("one of the {} {}s of [tokenizer]", known, what), "add it to [tokenizer], or change the text"});
}

// Pieces in order of their ids, the last one <eos>.
class TableTokenizer : public Tokenizer {
 public:
  TableTokenizer(std::vector<std::string> pieces, std::string_view noun) {
    std::vector<Fault> faults;
    if (pieces.empty()) faults.push_back({"", fmt::format("[tokenizer] has no {}", noun), "at least one", "list them"});
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const bool fresh = id_.emplace(pieces[i], static_cast<std::int32_t>(i)).second;
      if (pieces[i] == kEnd) {
        faults.push_back(
            {"", "[tokenizer] lists <eos>", "the end token is added by itself, as the last id", "remove it"});
      } else if (!fresh) {
        faults.push_back({"", fmt::format("[tokenizer] lists the {} {} twice", noun, in_quotes(pieces[i])), "each once",
                          "remove one of them"});
      }
    }
    if (!faults.empty()) throw Error(ExitCode::config, std::move(faults));
    id_.emplace(std::string(kEnd), static_cast<std::int32_t>(pieces.size()));
    pieces.emplace_back(kEnd);
    piece_ = std::move(pieces);
  }

  std::string bytes(std::int32_t id) const override {
    if (!contains(id)) {
      throw Error(ExitCode::data,
                  Fault{"", fmt::format("token id {} is outside the vocabulary", id),
                        fmt::format("0 to {}", vocabulary_size() - 1), "use the tokenizer that made the ids"});
    }
    return piece_[static_cast<std::size_t>(id)];
  }
  std::optional<std::int32_t> id_of(std::string_view piece) const override {
    const auto found = id_.find(std::string(piece));
    return found == id_.end() ? std::nullopt : std::optional(found->second);
  }
  std::int64_t vocabulary_size() const override { return static_cast<std::int64_t>(piece_.size()); }
  std::int32_t end_token() const override { return static_cast<std::int32_t>(piece_.size()) - 1; }

 protected:
  std::string joined(std::string_view between) const {  // all but <eos>
    std::string text;
    for (std::size_t i = 0; i + 1 < piece_.size(); ++i) {
      if (i > 0) text += between;
      text += piece_[i];
    }
    return text;
  }

 private:
  std::vector<std::string> piece_;
  std::unordered_map<std::string, std::int32_t> id_;
};

class CharacterTokenizer final : public TableTokenizer {
 public:
  explicit CharacterTokenizer(std::vector<std::string> alphabet) : TableTokenizer(std::move(alphabet), "character") {}

  std::vector<std::int32_t> encode(std::string_view text, SpecialText special) const override {
    require_valid(text);
    std::vector<std::int32_t> ids;
    const std::vector<std::string_view> points = code_points(text);
    std::size_t offset = 0;
    for (std::size_t i = 0; i < points.size();) {
      if (special == SpecialText::as_tokens && text.substr(offset, kEnd.size()) == kEnd) {
        ids.push_back(end_token());
        offset += kEnd.size();
        i += kEnd.size();  // five code points of one byte
        continue;
      }
      const auto id = id_of(points[i]);
      if (!id) fail_unknown("character", points[i], offset, static_cast<std::size_t>(vocabulary_size()) - 1);
      ids.push_back(*id);
      offset += points[i].size();
      ++i;
    }
    return ids;
  }
  std::string decode(std::span<const std::int32_t> ids) const override {
    std::string text;
    for (const std::int32_t id : ids) text += bytes(id);
    return text;
  }
  Json to_json() const override { return Json{{"kind", "characters"}, {"alphabet", joined("")}}; }

 private:
  static void require_valid(std::string_view text) {
    if (const auto bad = first_invalid_utf8(text)) {
      throw Error(ExitCode::data, Fault{"", fmt::format("the text is not valid UTF-8 at byte {}", *bad), "UTF-8",
                                        "convert the file, for example with iconv"});
    }
  }
};

class WordTokenizer final : public TableTokenizer {
 public:
  explicit WordTokenizer(std::vector<std::string> words) : TableTokenizer(std::move(words), "word") {}

  std::vector<std::int32_t> encode(std::string_view text, SpecialText special) const override {
    std::vector<std::int32_t> ids;
    for (const std::string_view word : split_words(text)) {
      const auto id = id_of(word);
      if (!id || (*id == end_token() && special == SpecialText::as_text)) {
        fail_unknown("word", word, static_cast<std::size_t>(word.data() - text.data()),
                     static_cast<std::size_t>(vocabulary_size()) - 1);
      }
      ids.push_back(*id);
    }
    return ids;
  }
  std::string decode(std::span<const std::int32_t> ids) const override {
    std::string text;
    for (const std::int32_t id : ids) {
      if (!text.empty()) text += ' ';
      text += bytes(id);
    }
    return text;
  }
  Json to_json() const override { return Json{{"kind", "words"}, {"words", joined(" ")}}; }
};

void require_utf8(std::string_view text, std::string_view key) {
  if (first_invalid_utf8(text)) {
    throw Error(ExitCode::config,
                Fault{"", fmt::format("[tokenizer] {} is not valid UTF-8", key), "UTF-8", "convert the deck"});
  }
}

std::vector<std::string> owned(const std::vector<std::string_view>& views) { return {views.begin(), views.end()}; }

}  // namespace

std::shared_ptr<const Tokenizer> make_character_tokenizer(std::string_view alphabet) {
  require_utf8(alphabet, "alphabet");
  return std::make_shared<CharacterTokenizer>(owned(code_points(alphabet)));
}

std::shared_ptr<const Tokenizer> make_word_tokenizer(std::string_view words) {
  require_utf8(words, "words");
  return std::make_shared<WordTokenizer>(owned(split_words(words)));
}

}  // namespace maxplus
