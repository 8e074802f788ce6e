// Pages are counted by their users; the numbers of free pages are handed out in one order, so runs repeat.
#include "model/kv_cache.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "base/error.hpp"
#include "ops/attention.hpp"
#include "ops/elementwise.hpp"

namespace maxplus {

namespace {

std::int64_t pages_of_positions(std::int64_t positions) {
  return (positions + ops::kPageTokens - 1) / ops::kPageTokens;
}

}  // namespace

KvCache::KvCache(const ModelConfig& config, std::int64_t pages, Arena& arena) : pages_(pages) {
  MAXPLUS_REQUIRE(pages >= 0 && pages <= INT32_MAX, fmt::format("{} pages", pages));
  for (std::int64_t l = 0; l < config.layers; ++l) {
    keys_.push_back(arena.take(DType::f32, {pages, config.kv_heads, config.head_width, ops::kPageTokens}));
    values_.push_back(arena.take(DType::f32, {pages, config.kv_heads, ops::kPageTokens, config.head_width}));
  }
  copy_ = arena.take(DType::i32, {1, 2});
  reset();
}

std::int64_t KvCache::bytes_per_page(const ModelConfig& config) {
  return config.layers * 2 * config.kv_columns() * ops::kPageTokens * static_cast<std::int64_t>(sizeof(float));
}

std::int64_t KvCache::pages_to_append(const Sequence& sequence, std::int64_t tokens) {
  return std::max<std::int64_t>(
      0, pages_of_positions(sequence.length + tokens) - static_cast<std::int64_t>(sequence.pages.size()));
}

bool KvCache::reserve(Sequence& sequence, std::int64_t tokens) {
  const std::int64_t needed = pages_to_append(sequence, tokens);
  if (needed > free_pages()) return false;
  for (std::int64_t i = 0; i < needed; ++i) {
    const std::int32_t page = free_.back();
    free_.pop_back();
    users_[static_cast<std::size_t>(page)] = 1;
    sequence.pages.push_back(page);
  }
  return true;
}

bool KvCache::fork(const Stream& stream, const Sequence& parent, Sequence& child) {
  MAXPLUS_REQUIRE(child.pages.empty() && child.length == 0, "a child begins empty");
  const std::int64_t full = parent.length / ops::kPageTokens;
  const bool straddles = parent.length % ops::kPageTokens != 0;
  if (straddles && free_.empty()) return false;
  child.pages.assign(parent.pages.begin(), parent.pages.begin() + full);
  for (std::int32_t page : child.pages) ++users_[static_cast<std::size_t>(page)];
  child.length = full * ops::kPageTokens;
  if (straddles) {
    reserve(child, 1);
    const std::int32_t from_to[2] = {parent.pages[static_cast<std::size_t>(full)], child.pages.back()};
    ops::copy_to_device(stream, copy_, from_to);
    for (std::size_t l = 0; l < keys_.size(); ++l) ops::copy_pages(stream, keys_[l], values_[l], copy_);
  }
  child.length = parent.length;
  return true;
}

void KvCache::release(Sequence& sequence) {
  for (auto page = sequence.pages.rbegin(); page != sequence.pages.rend(); ++page) {
    std::int32_t& users = users_[static_cast<std::size_t>(*page)];
    MAXPLUS_REQUIRE(users > 0, fmt::format("page {} is released twice", *page));
    if (--users == 0) free_.push_back(*page);
  }
  sequence = Sequence{};
}

void KvCache::reset() {
  users_.assign(static_cast<std::size_t>(pages_), 0);
  free_.resize(static_cast<std::size_t>(pages_));
  std::iota(free_.rbegin(), free_.rend(), 0);
}

}  // namespace maxplus
