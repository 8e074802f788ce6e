#pragma once
// Words to tokens: byte-pair encoding over the bytes of one word, by rank of merge, the leftmost of equals first
// (Sennrich, Haddow and Birch, 2016).
//
// A word that is a token, and that its own merges would make so, is found by one look-up; most words are. Short words
// are merged by scanning, long ones by a heap over a linked list, so that no word takes quadratic time.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace maxplus {

class BpeVocabulary {
 public:
  struct Merge {
    std::int32_t left, right, whole;  // ids; the rank is the place in the list, a later equal pair replaces an earlier
  };
  enum class WholeWords { by_merges, always };  // whether a word that is a token needs merges that lead to it
  // bytes[id] of tokens that words are made of; empty: the id takes no part.
  BpeVocabulary(std::vector<std::string> bytes, const std::vector<Merge>& merges, WholeWords whole_words);

  // Appends the tokens of a word. A byte that is no token becomes -1 - byte.
  void encode(std::string_view word, std::vector<std::int32_t>& ids) const;
  std::int32_t find(std::string_view bytes) const;  // -1: none

 private:
  struct PairSlot {
    std::uint64_t key = kNoPair;
    std::int32_t rank = 0, whole = 0;
  };
  static constexpr std::uint64_t kNoPair = UINT64_MAX;
  const PairSlot* find_pair(std::int32_t left, std::int32_t right) const;
  void merge_short(std::string_view word, std::vector<std::int32_t>& ids) const;
  void merge_long(std::string_view word, std::vector<std::int32_t>& ids) const;
  void merge(std::string_view word, std::vector<std::int32_t>& ids) const;

  std::vector<std::string> bytes_;
  std::vector<std::int32_t> token_slots_;  // open addressing over the bytes' hash; -1: free
  std::vector<PairSlot> pair_slots_;
  std::vector<std::uint8_t> is_whole_word_;  // by id: encode() gives it for its own bytes
  std::array<std::int32_t, 256> byte_token_{};
};

}  // namespace maxplus
