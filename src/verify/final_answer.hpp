#pragma once
// The final answer of a response that was asked to reason first.

#include <cstddef>
#include <optional>
#include <string_view>

namespace maxplus {

inline constexpr std::size_t kSearchedBytes = 10'000;  // at the end of a response, for what stands unmarked

enum class AnswerPlaces { box_only, all };

// In this order: the last complete box; the last complete <answer>…</answer>; what follows the last "answer is",
// "answers are" or "answer:", up to the end of its formula, sentence or line; the last number among the last 10,000
// bytes, or the formula it stands in. Without blanks at its ends; may be empty. Nothing where there is none of them.
std::optional<std::string_view> final_answer(std::string_view response, AnswerPlaces places);

// Of these the third alone.
std::optional<std::string_view> phrase_answer(std::string_view response);

// Without blanks, full stops, asterisks and the signs that open and close a formula, at both ends.
std::string_view without_wrapping(std::string_view text);

}  // namespace maxplus
