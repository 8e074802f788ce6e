#include "text/gguf_tokenizer.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.hpp"
#include "text/utf8.hpp"

namespace maxplus {

namespace {

constexpr std::string_view kPrefix = "tokenizer.ggml.";
constexpr std::int64_t kControl = 3, kUserDefined = 4, kUnused = 5;  // token types that are no ordinary ones

[[noreturn]] void refuse_gguf_tokenizer(const GgufFile& file, std::string found, std::string expected,
                                        std::string advice) {
  throw Error(ExitCode::data, Fault{file.where(), std::move(found), std::move(expected), std::move(advice)});
}

std::string key_of(std::string_view name) { return std::string(kPrefix) + std::string(name); }

// How a name of tokenizer.ggml.pre splits; the normaliser and ignore_merges are the published tokenizers' own.
struct SplitRule {
  std::vector<std::string_view> names;
  std::vector<SplitStep> splits;
  TextNormalizer normalizer;
  bool ignore_merges;
};

std::vector<SplitRule> split_rules() {
  const auto one = [](const char* expression) { return std::vector<SplitStep>{{expression, SplitGaps::keep}}; };
  const std::vector<SplitStep> digits_first = {{kDigitsExpression, SplitGaps::keep},
                                               {kGpt2Expression, SplitGaps::keep}};
  return {
      {{"gpt-2", "gpt2", "phi-2", "mpt", "olmo", "jais", "roberta-bpe"},
       one(kGpt2Expression),
       TextNormalizer::none,
       false},
      {{"llama-bpe", "llama3", "llama-v3", "falcon3"}, one(kLlama3Expression), TextNormalizer::none, true},
      {{"qwen2", "deepseek-r1-qwen"}, one(kQwen2Expression), TextNormalizer::nfc, false},
      {{"smollm", "starcoder", "refact", "command-r", "codeshell"}, digits_first, TextNormalizer::none, false},
      {{"deepseek-v3"}, deepseek_v3_splits(), TextNormalizer::none, false},
      {{"gpt-4o", "llama4"}, one(kGpt4oExpression), TextNormalizer::none, true},
      {{"tekken"}, one(kTekkenExpression), TextNormalizer::none, true},
  };
}

void apply_split_rule(const GgufFile& file, BpeDescription& description) {
  const std::optional<std::string_view> name = file.text(key_of("pre"));
  if (!name) {
    refuse_gguf_tokenizer(file, "the key tokenizer.ggml.pre is absent: how text is split is unknown",
                          "the name of a splitting rule", "convert the model again with a current llama.cpp");
  }
  std::vector<std::string_view> known;
  for (const SplitRule& rule : split_rules()) {
    if (std::find(rule.names.begin(), rule.names.end(), *name) != rule.names.end()) {
      description.splits = rule.splits;
      description.normalizer = rule.normalizer;
      description.ignore_merges = rule.ignore_merges;
      return;
    }
    known.insert(known.end(), rule.names.begin(), rule.names.end());
  }
  refuse_gguf_tokenizer(file,
                        fmt::format("tokenizer.ggml.pre = {} is a splitting rule that is not known", in_quotes(*name)),
                        fmt::format("one of {}", fmt::join(known, ", ")), "token ids work with any model");
}

void read_tokens(const GgufFile& file, BpeDescription& description) {
  const auto tokens = file.texts(key_of("tokens"));
  if (!tokens || tokens->empty())
    refuse_gguf_tokenizer(file, "the key tokenizer.ggml.tokens is absent or empty", "the texts of all tokens", "");
  description.tokens.assign(tokens->begin(), tokens->end());
  const std::optional<GgufValue> types = file.find(key_of("token_type"));
  if (!types) return;
  if (!types->is_list() || types->count() != tokens->size()) {
    refuse_gguf_tokenizer(file,
                          fmt::format("tokenizer.ggml.token_type is a {} of {}", types->type_name(), types->count()),
                          fmt::format("a list of {}, one for each token", tokens->size()), "");
  }
  for (std::uint64_t id = 0; id < types->count(); ++id) {
    const std::int64_t type = types->whole(id).value_or(0);
    std::string& text = description.tokens[id];
    if (type == kUnused) {
      text.clear();  // a row of the network without a token
    } else if ((type == kControl || type == kUserDefined) && !text.empty()) {
      AddedToken token;
      token.id = static_cast<std::int32_t>(id);
      token.content = text;
      token.special = type == kControl;
      description.added.push_back(std::move(token));
    }
  }
}

void read_gguf_merges(const GgufFile& file, BpeDescription& description) {
  const auto merges = file.texts(key_of("merges"));
  if (!merges)
    refuse_gguf_tokenizer(file, "the key tokenizer.ggml.merges is absent", "the merges of byte-level BPE", "");
  description.merges.reserve(merges->size());
  for (std::size_t m = 0; m < merges->size(); ++m) {
    const std::string_view text = (*merges)[m];
    const std::size_t blank = text.find(' ', 1);  // a token is never empty
    if (blank == std::string_view::npos || blank + 1 == text.size())
      refuse_gguf_tokenizer(file, fmt::format("merge {} is {}", m, in_quotes(text)), "\"a b\"", "");
    description.merges.emplace_back(text.substr(0, blank), text.substr(blank + 1));
  }
}

std::optional<std::int32_t> read_token_id(const GgufFile& file, std::string_view name, std::size_t tokens) {
  const std::optional<std::int64_t> id = file.whole(key_of(name));
  if (!id) return std::nullopt;
  if (*id < 0 || *id >= static_cast<std::int64_t>(tokens)) {
    refuse_gguf_tokenizer(file, fmt::format("tokenizer.ggml.{} = {}", name, *id), fmt::format("0 to {}", tokens - 1),
                          "");
  }
  return static_cast<std::int32_t>(*id);
}

}  // namespace

bool has_gguf_tokenizer(const GgufFile& file) { return file.find(key_of("model")).has_value(); }

PublishedTokenizer read_gguf_tokenizer(const GgufFile& file) {
  const std::optional<std::string_view> model = file.text(key_of("model"));
  if (!model || *model != "gpt2") {
    refuse_gguf_tokenizer(file,
                          model ? fmt::format("tokenizer.ggml.model = {} is not supported{}", in_quotes(*model),
                                              *model == "llama" ? " (SentencePiece with byte fallback)" : "")
                                : std::string("the key tokenizer.ggml.model is absent"),
                          "\"gpt2\": byte-level BPE", "token ids work with any model");
  }
  PublishedTokenizer result;
  result.where = file.where();
  BpeDescription& d = result.description;
  apply_split_rule(file, d);
  read_tokens(file, d);
  read_gguf_merges(file, d);
  d.begin = read_token_id(file, "bos_token_id", d.tokens.size());
  d.end = read_token_id(file, "eos_token_id", d.tokens.size());
  d.unknown = std::nullopt;  // byte-level: an unknown byte is an error, not a token
  d.padding = read_token_id(file, "padding_token_id", d.tokens.size());
  d.chat_template = std::string(file.text("tokenizer.chat_template").value_or(""));
  if (first_invalid_utf8(d.chat_template))
    refuse_gguf_tokenizer(file, "the chat template is not valid UTF-8", "UTF-8", "");
  if (d.end) result.stop.push_back(*d.end);
  for (const char* name : {"eot_token_id", "eom_token_id"}) {
    const std::optional<std::int32_t> id = read_token_id(file, name, d.tokens.size());
    if (id && std::find(result.stop.begin(), result.stop.end(), *id) == result.stop.end()) result.stop.push_back(*id);
  }
  d.stop = result.stop;
  return result;
}

}  // namespace maxplus
