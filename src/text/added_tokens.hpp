#pragma once
// Finds added tokens in a text: the leftmost, of those the longest, each with the white space that it takes along.

#include <array>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "text/bpe_description.hpp"

namespace maxplus {

class AddedTokenFinder {
 public:
  explicit AddedTokenFinder(std::vector<AddedToken> tokens);

  struct Match {
    std::size_t begin, end;  // bytes of the text; the rest of it lies between matches
    std::int32_t id;
  };
  // `special_means_token(begin, end)`: whether a special token is one there; otherwise it is text.
  using Permission = std::function<bool(std::size_t begin, std::size_t end)>;
  std::vector<Match> find_all(std::string_view text, const Permission& special_means_token) const;

  bool empty() const { return tokens_.empty(); }

 private:
  const AddedToken* token_at(std::string_view text, std::size_t at) const;

  std::vector<AddedToken> tokens_;                       // the longest first
  std::array<std::vector<std::uint32_t>, 256> of_byte_;  // by first byte
};

}  // namespace maxplus
