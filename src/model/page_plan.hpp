#pragma once
// Which token goes into which page, and which pages a query looks at: pure planning, without a device.
//
// A packed batch gets temporary pages that one layer after another uses. The full pages of a parent are listed by its
// children; the page that straddles parent and child is written once for each child, the parent's tokens included.

#include <cstdint>
#include <span>
#include <vector>

#include "model/transformer.hpp"
#include "ops/attention.hpp"
#include "tensor/token_batch.hpp"

namespace maxplus {

struct PagePlan {
  std::vector<ops::QuerySegment> queries;  // segments with at least one token
  std::vector<ops::TrieSegment> trie;      // the same segments; parents are numbers among them
  std::vector<std::int32_t> page_table;
  std::vector<std::int32_t> write;  // (token row, page, slot) an entry
  std::int64_t pages = 0;           // temporary pages used
  std::int64_t longest = 0;         // tokens of the longest path
};

// Upper bounds of a plan's lists, for sizing buffers.
struct PagePlanLimits {
  std::int64_t pages, table, writes;
};
PagePlanLimits batch_plan_limits(std::int64_t tokens, std::int64_t segments, std::int64_t context);
PagePlanLimits extension_plan_limits(std::int64_t tokens, std::int64_t extensions, std::int64_t context);

PagePlan plan_batch(const TokenBatch& batch);
// `pages` and `trie` stay empty: the pages are the cache's.
PagePlan plan_extensions(std::span<const Transformer::Extension> extensions);

}  // namespace maxplus
