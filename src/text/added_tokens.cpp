#include "text/added_tokens.hpp"

#include <algorithm>

namespace maxplus {

namespace {

bool is_word_character(char32_t code) {
  static const std::uint32_t mask =
      category_mask("L") | category_mask("M") | category_mask("Nd") | category_mask("Nl") | category_mask("Pc");
  return (class_of(code).bit() & mask) != 0;
}

bool stands_alone(std::string_view text, std::size_t begin, std::size_t end) {
  if (begin > 0 && is_word_character(code_point_at(text, code_point_before(text, begin)).code)) return false;
  return end == text.size() || !is_word_character(code_point_at(text, end).code);
}

}  // namespace

AddedTokenFinder::AddedTokenFinder(std::vector<AddedToken> tokens) : tokens_(std::move(tokens)) {
  std::stable_sort(tokens_.begin(), tokens_.end(),
                   [](const AddedToken& a, const AddedToken& b) { return a.content.size() > b.content.size(); });
  for (std::size_t i = 0; i < tokens_.size(); ++i)
    of_byte_[static_cast<unsigned char>(tokens_[i].content[0])].push_back(static_cast<std::uint32_t>(i));
}

const AddedToken* AddedTokenFinder::token_at(std::string_view text, std::size_t at) const {
  for (const std::uint32_t i : of_byte_[static_cast<unsigned char>(text[at])]) {
    const std::string& content = tokens_[i].content;
    if (text.substr(at, content.size()) == content) return &tokens_[i];
  }
  return nullptr;
}

std::vector<AddedTokenFinder::Match> AddedTokenFinder::find_all(std::string_view text,
                                                                const Permission& special_means_token) const {
  std::vector<Match> matches;
  std::size_t taken = 0;  // end of the last match, with what it takes along
  for (std::size_t i = 0; i < text.size();) {
    const AddedToken* token = token_at(text, i);
    if (token == nullptr) {
      ++i;
      continue;
    }
    std::size_t begin = i, end = i + token->content.size();
    i = end;
    if (begin < taken || (token->special && !special_means_token(begin, end))) continue;
    if (token->single_word && !stands_alone(text, begin, end)) continue;
    while (token->strip_left && begin > taken) {
      const std::size_t before = code_point_before(text, begin);
      if (before < taken || !class_of(code_point_at(text, before).code).is_space()) break;
      begin = before;
    }
    while (token->strip_right && end < text.size()) {
      const CodePoint point = code_point_at(text, end);
      if (!class_of(point.code).is_space()) break;
      end += point.length;
    }
    matches.push_back({begin, end, token->id});
    taken = end;
  }
  return matches;
}

}  // namespace maxplus
