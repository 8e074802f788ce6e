#pragma once
// Keys and values of running sequences in pages of ops::kPageTokens positions, for all layers.
//
// Full pages of a shared prompt are counted, not copied; the page that straddles prompt and answer is copied for each
// child when it forks. A cache belongs to one policy version: reset() drops everything when weights change.

#include <cstdint>
#include <vector>

#include "device/stream.hpp"
#include "model/model_config.hpp"
#include "tensor/arena.hpp"

namespace maxplus {

class KvCache {
 public:
  struct Sequence {
    std::int64_t length = 0;          // positions held
    std::vector<std::int32_t> pages;  // ceil(length / 16) of them, perhaps one more reserved
  };

  KvCache(const ModelConfig& config, std::int64_t pages, Arena& arena);
  static std::int64_t bytes_per_page(const ModelConfig& config);

  std::int64_t pages() const { return pages_; }
  std::int64_t free_pages() const { return static_cast<std::int64_t>(free_.size()); }

  // Pages needed to append `tokens` to a sequence (0 when its last page has room).
  static std::int64_t pages_to_append(const Sequence& sequence, std::int64_t tokens);
  // Takes those pages; false (and nothing changed) when they are not free.
  bool reserve(Sequence& sequence, std::int64_t tokens);
  // A child (empty so far) that continues `parent`: shares its full pages, copies the straddling one. False, and
  // nothing changed, when that takes a page and none is free.
  bool fork(const Stream& stream, const Sequence& parent, Sequence& child);
  void release(Sequence& sequence);
  void reset();

  TensorView keys(std::int64_t layer) const { return keys_[static_cast<std::size_t>(layer)]; }      // [pages, G, D, 16]
  TensorView values(std::int64_t layer) const { return values_[static_cast<std::size_t>(layer)]; }  // [pages, G, 16, D]

 private:
  std::int64_t pages_;
  std::vector<TensorView> keys_, values_;
  TensorView copy_;                  // [1, 2] i32: (from, to) of a fork
  std::vector<std::int32_t> free_;   // the next one to take stands last
  std::vector<std::int32_t> users_;  // of a page
};

}  // namespace maxplus
