#include "text/bpe_vocabulary.hpp"

#include <bit>
#include <queue>

#include <xxhash.h>

namespace maxplus {

namespace {

constexpr std::size_t kShortWord = 40;  // symbols up to which scanning beats a heap

std::uint64_t pair_key(std::int32_t left, std::int32_t right) {
  return (static_cast<std::uint64_t>(static_cast<std::uint32_t>(left)) << 32) | static_cast<std::uint32_t>(right);
}

std::size_t mixed(std::uint64_t key) {
  key *= 0x9E3779B97F4A7C15ULL;
  return static_cast<std::size_t>(key ^ (key >> 29));
}

std::size_t hash_of(std::string_view bytes) {
  return static_cast<std::size_t>(XXH3_64bits(bytes.data(), bytes.size()));
}

// At most half full, so that a look-up ends soon.
std::size_t slots_for(std::size_t entries) { return std::bit_ceil(2 * entries + 2); }

// A possible merge of the symbols that begin at bytes `left` and `right`.
struct Candidate {
  std::int32_t rank;
  std::uint32_t left, right;
  std::int32_t whole;
  bool operator>(const Candidate& other) const { return rank != other.rank ? rank > other.rank : left > other.left; }
};

}  // namespace

BpeVocabulary::BpeVocabulary(std::vector<std::string> bytes, const std::vector<Merge>& merges, WholeWords whole_words)
    : bytes_(std::move(bytes)) {
  token_slots_.assign(slots_for(bytes_.size()), -1);
  byte_token_.fill(-1);
  for (std::size_t id = 0; id < bytes_.size(); ++id) {
    if (bytes_[id].empty() || find(bytes_[id]) >= 0) continue;
    std::size_t slot = hash_of(bytes_[id]) & (token_slots_.size() - 1);
    while (token_slots_[slot] >= 0) slot = (slot + 1) & (token_slots_.size() - 1);
    token_slots_[slot] = static_cast<std::int32_t>(id);
    if (bytes_[id].size() == 1) byte_token_[static_cast<unsigned char>(bytes_[id][0])] = static_cast<std::int32_t>(id);
  }
  pair_slots_.resize(slots_for(merges.size()));
  for (std::size_t rank = 0; rank < merges.size(); ++rank) {
    const std::uint64_t key = pair_key(merges[rank].left, merges[rank].right);
    std::size_t slot = mixed(key) & (pair_slots_.size() - 1);
    while (pair_slots_[slot].key != kNoPair && pair_slots_[slot].key != key)
      slot = (slot + 1) & (pair_slots_.size() - 1);
    pair_slots_[slot] = {key, static_cast<std::int32_t>(rank), merges[rank].whole};
  }
  is_whole_word_.assign(bytes_.size(), 0);
  std::vector<std::int32_t> ids;
  for (std::size_t id = 0; id < bytes_.size(); ++id) {
    if (bytes_[id].empty() || find(bytes_[id]) != static_cast<std::int32_t>(id)) continue;
    ids.clear();
    if (whole_words == WholeWords::by_merges) merge(bytes_[id], ids);
    is_whole_word_[id] =
        whole_words == WholeWords::always || (ids.size() == 1 && ids[0] == static_cast<std::int32_t>(id));
  }
}

std::int32_t BpeVocabulary::find(std::string_view bytes) const {
  std::size_t slot = hash_of(bytes) & (token_slots_.size() - 1);
  for (; token_slots_[slot] >= 0; slot = (slot + 1) & (token_slots_.size() - 1)) {
    if (bytes_[static_cast<std::size_t>(token_slots_[slot])] == bytes) return token_slots_[slot];
  }
  return -1;
}

const BpeVocabulary::PairSlot* BpeVocabulary::find_pair(std::int32_t left, std::int32_t right) const {
  if (left < 0 || right < 0) return nullptr;
  const std::uint64_t key = pair_key(left, right);
  std::size_t slot = mixed(key) & (pair_slots_.size() - 1);
  for (; pair_slots_[slot].key != kNoPair; slot = (slot + 1) & (pair_slots_.size() - 1)) {
    if (pair_slots_[slot].key == key) return &pair_slots_[slot];
  }
  return nullptr;
}

void BpeVocabulary::encode(std::string_view word, std::vector<std::int32_t>& ids) const {
  const std::int32_t id = find(word);
  if (id >= 0 && is_whole_word_[static_cast<std::size_t>(id)]) {
    ids.push_back(id);
  } else {
    merge(word, ids);
  }
}

void BpeVocabulary::merge(std::string_view word, std::vector<std::int32_t>& ids) const {
  if (word.size() <= kShortWord) {
    merge_short(word, ids);
  } else {
    merge_long(word, ids);
  }
}

void BpeVocabulary::merge_short(std::string_view word, std::vector<std::int32_t>& ids) const {
  struct Symbol {
    std::int32_t id;
    const PairSlot* with_next;
  };
  std::array<Symbol, kShortWord> symbol;
  std::size_t count = word.size();
  for (std::size_t i = 0; i < count; ++i) {
    const auto byte = static_cast<unsigned char>(word[i]);
    symbol[i].id = byte_token_[byte] >= 0 ? byte_token_[byte] : -1 - static_cast<std::int32_t>(byte);
  }
  const auto look = [&](std::size_t i) {
    symbol[i].with_next = i + 1 < count ? find_pair(symbol[i].id, symbol[i + 1].id) : nullptr;
  };
  for (std::size_t i = 0; i < count; ++i) look(i);
  for (;;) {
    std::size_t best = count;
    for (std::size_t i = 0; i < count; ++i) {
      if (symbol[i].with_next != nullptr && (best == count || symbol[i].with_next->rank < symbol[best].with_next->rank))
        best = i;
    }
    if (best == count) break;
    symbol[best].id = symbol[best].with_next->whole;
    for (std::size_t i = best + 1; i + 1 < count; ++i) symbol[i] = symbol[i + 1];
    --count;
    look(best);
    if (best > 0) look(best - 1);
  }
  for (std::size_t i = 0; i < count; ++i) ids.push_back(symbol[i].id);
}

void BpeVocabulary::merge_long(std::string_view word, std::vector<std::int32_t>& ids) const {
  struct Symbol {
    std::int32_t id;
    std::uint32_t before, next;  // places; the word's size: none
    bool gone;
  };
  const auto size = static_cast<std::uint32_t>(word.size());
  std::vector<Symbol> symbol(size);
  for (std::uint32_t i = 0; i < size; ++i) {
    const auto byte = static_cast<unsigned char>(word[i]);
    symbol[i] = {byte_token_[byte] >= 0 ? byte_token_[byte] : -1 - static_cast<std::int32_t>(byte),
                 i == 0 ? size : i - 1, i + 1, false};
  }
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> queue;
  const auto offer = [&](std::uint32_t left) {
    if (left == size || symbol[left].next == size) return;
    const std::uint32_t right = symbol[left].next;
    if (const PairSlot* pair = find_pair(symbol[left].id, symbol[right].id))
      queue.push({pair->rank, left, right, pair->whole});
  };
  for (std::uint32_t i = 0; i < size; ++i) offer(i);
  while (!queue.empty()) {
    const Candidate best = queue.top();
    queue.pop();
    Symbol& left = symbol[best.left];
    if (left.gone || left.next != best.right) continue;  // merged away meanwhile
    const PairSlot* now = find_pair(left.id, symbol[best.right].id);
    if (now == nullptr || now->rank != best.rank) continue;
    left.id = best.whole;
    left.next = symbol[best.right].next;
    symbol[best.right].gone = true;
    if (left.next != size) symbol[left.next].before = best.left;
    offer(best.left);
    offer(left.before);
  }
  for (std::uint32_t i = 0; i < size; i = symbol[i].next) ids.push_back(symbol[i].id);
}

}  // namespace maxplus
