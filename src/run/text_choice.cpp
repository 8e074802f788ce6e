#include "run/text_choice.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.hpp"
#include "io/gguf.hpp"
#include "text/gguf_tokenizer.hpp"
#include "text/hf_tokenizer.hpp"

namespace maxplus {

namespace {

ChatSettings chat_of(const TokenizerTable& table) {
  ChatSettings chat;
  chat.format = table.chat_template;
  chat.thinking = table.thinking;
  chat.date = table.chat_date;
  chat.begin = table.chat_begin;
  chat.generation = table.chat_generation;
  chat.system = table.chat_system;
  chat.user = table.chat_user;
  chat.assistant = table.chat_assistant;
  return chat;
}

void add_once(std::vector<std::int32_t>& ids, std::optional<std::int32_t> id) {
  if (id && *id >= 0 && std::find(ids.begin(), ids.end(), *id) == ids.end()) ids.push_back(*id);
}

std::shared_ptr<const Tokenizer> published_tokenizer(const std::filesystem::path& path) {
  PublishedTokenizer published = has_gguf_magic(path) ? read_gguf_tokenizer(GgufFile(path)) : read_hf_tokenizer(path);
  return make_bpe_tokenizer(std::move(published.description), published.where);
}

// With the end token that the deck names.
std::shared_ptr<const Tokenizer> with_end(const Deck& deck, const std::shared_ptr<const Tokenizer>& tokenizer) {
  const std::string& text = deck.tokenizer.end_token;
  const std::optional<std::int32_t> id = tokenizer->id_of(text);
  if (!id) {
    throw Error(ExitCode::config, Fault{deck.where("tokenizer.end_token"),
                                        fmt::format("end_token = '{}' is not a token of the tokenizer", text),
                                        "one token's text", "maxplus tokenize shows the pieces of a text"});
  }
  BpeDescription description = *bpe_description_of(*tokenizer);
  description.end = *id;
  return make_bpe_tokenizer(std::move(description), deck.tokenizer.path);
}

// Published tokenizers get empty tokens for the rows of the network that they do not use.
std::shared_ptr<const Tokenizer> with_rows(const std::shared_ptr<const Tokenizer>& tokenizer, std::int64_t rows) {
  const BpeDescription* bpe = bpe_description_of(*tokenizer);
  if (bpe == nullptr || tokenizer->vocabulary_size() == rows) return tokenizer;
  BpeDescription description = *bpe;
  pad_vocabulary(description, rows);
  return make_bpe_tokenizer(std::move(description), "the tokenizer");
}

}  // namespace

std::shared_ptr<const Tokenizer> kind_tokenizer(const Deck& deck) {
  const TokenizerTable& table = deck.tokenizer;
  if (table.kind.empty()) return nullptr;
  return tokenizer_from_keys(table.kind, table.alphabet, table.words, deck.where("tokenizer"));
}

std::shared_ptr<const Tokenizer> deck_tokenizer(const Deck& deck) {
  if (deck.tokenizer.path.empty()) return kind_tokenizer(deck);
  std::shared_ptr<const Tokenizer> tokenizer = published_tokenizer(deck.tokenizer.path);
  return deck.tokenizer.end_token.empty() ? tokenizer : with_end(deck, tokenizer);
}

std::shared_ptr<const Tokenizer> as_deck_writes(const Deck& deck, const std::shared_ptr<const Tokenizer>& tokenizer) {
  const ChatSettings settings = chat_of(deck.tokenizer);
  if (tokenizer == nullptr || settings == ChatSettings()) return tokenizer;
  try {
    return with_chat(tokenizer, settings);
  } catch (const Error& error) {
    Fault fault = error.faults().front();
    fault.where = deck.where("tokenizer.chat_template");
    throw Error(error.code(), std::move(fault));
  }
}

OpenedModel open_deck_model(const Deck& deck, const std::shared_ptr<const Tokenizer>& tokenizer) {
  OpenedModel model = open_model(deck.model.path);
  if (tokenizer) {
    const std::int64_t rows = model.config.vocabulary;
    if (tokenizer->vocabulary_size() > rows) {
      throw Error(ExitCode::config,
                  Fault{deck.where("tokenizer"),
                        fmt::format("the tokenizer has {} tokens, the model {}", tokenizer->vocabulary_size(), rows),
                        "no more tokens than the model's vocabulary", "the tokenizer that the model was trained with"});
    }
    replace_tokenizer(model, with_rows(tokenizer, rows));
  }
  model.tokenizer = as_deck_writes(deck, model.tokenizer);
  return model;
}

std::vector<std::int32_t> usual_stop_tokens(const OpenedModel& model) {
  std::vector<std::int32_t> stop = model.stop;
  if (model.tokenizer) {
    if (const BpeDescription* bpe = bpe_description_of(*model.tokenizer)) {
      for (const std::int32_t id : bpe->stop) add_once(stop, id);
    }
    add_once(stop, model.tokenizer->end_token());
    if (const ChatTemplate* chat = model.tokenizer->chat(); chat != nullptr && !chat->end_of_turn().empty())
      add_once(stop, model.tokenizer->id_of(chat->end_of_turn()));
  }
  if (stop.empty() && model.config.end_token >= 0) stop.push_back(model.config.end_token);
  return stop;
}

std::shared_ptr<const Tokenizer> open_tokenizer(const std::filesystem::path& path) {
  if (path.extension() == ".json") return published_tokenizer(path);
  const OpenedModel model = open_model(path);
  if (!model.tokenizer) refuse_text(model, path.string());
  return model.tokenizer;
}

void rethrow_with_reason(const OpenedModel& model, const Error& error) {
  if (model.tokenizer || !model.tokenizer_fault || error.code() != ExitCode::data) throw error;
  std::vector<Fault> faults = error.faults();
  faults.push_back(*model.tokenizer_fault);
  throw Error(error.code(), std::move(faults));
}

void refuse_text(const OpenedModel& model, const std::string& where) {
  if (model.tokenizer_fault) {
    const Fault& fault = *model.tokenizer_fault;
    throw Error(ExitCode::data, Fault{where,
                                      fmt::format("the model's tokenizer cannot be used: {}{}{}", fault.where,
                                                  fault.where.empty() ? "" : ": ", fault.found),
                                      fault.expected, fault.advice});
  }
  throw Error(ExitCode::data, Fault{where, "the model has no tokenizer", "token ids, or a model with a tokenizer",
                                    "[tokenizer] path = a tokenizer.json"});
}

}  // namespace maxplus
