#pragma once
// What a deck's [tokenizer] makes of a model's text side: another tokenizer, the way prompts are written, and from both
// the tokens that end an answer.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "deck/tables.hpp"
#include "run/model_source.hpp"
#include "text/chat_template.hpp"
#include "text/tokenizer.hpp"

namespace maxplus {

// Of kind = "characters" or "words": needs no file. Null where the deck names no kind. Error(config), all faults.
std::shared_ptr<const Tokenizer> kind_tokenizer(const Deck& deck);
// The same, or that of [tokenizer] path; null where the deck names neither.
std::shared_ptr<const Tokenizer> deck_tokenizer(const Deck& deck);

// The tokenizer with the deck's chat keys, if any is set. Null stays null.
std::shared_ptr<const Tokenizer> as_deck_writes(const Deck& deck, const std::shared_ptr<const Tokenizer>& tokenizer);

// The model of [model] path with the deck's text side. `tokenizer`: that of deck_tokenizer().
OpenedModel open_deck_model(const Deck& deck, const std::shared_ptr<const Tokenizer>& tokenizer);

// The tokens that end an answer where nobody names them: what the model's files say, the tokenizer's end token, and the
// end of a turn of its chat template.
std::vector<std::int32_t> usual_stop_tokens(const OpenedModel& model);

// The tokenizer of a model, or a tokenizer.json by itself. Error(data) if there is none or it cannot be read.
std::shared_ptr<const Tokenizer> open_tokenizer(const std::filesystem::path& path);

// Refuses text for a model without a usable tokenizer, with the reason.
[[noreturn]] void refuse_text(const OpenedModel& model, const std::string& where);
// Throws `error` again; where it comes of the model's lack of a tokenizer, with the reason of that as well.
[[noreturn]] void rethrow_with_reason(const OpenedModel& model, const Error& error);

}  // namespace maxplus
