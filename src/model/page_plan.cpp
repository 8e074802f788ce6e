// Plans of pages for packed batches and for extensions of cached sequences.
#include "model/page_plan.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace maxplus {

namespace {

constexpr std::int64_t kPage = ops::kPageTokens;

std::int64_t pages_for(std::int64_t positions) { return (positions + kPage - 1) / kPage; }

// How a path (a segment with all its ancestors) stands in pages.
struct Path {
  std::int64_t length = 0;
  std::vector<std::int32_t> pages;  // of all its positions
  std::vector<std::int32_t> tail;   // token rows of the positions in the last page when that is not full
  std::int32_t segment = -1;        // the nearest segment with tokens, numbered among those
};

void write_token(PagePlan& plan, std::int32_t row, const Path& path, std::int64_t position) {
  plan.write.push_back(row);
  plan.write.push_back(path.pages[static_cast<std::size_t>(position / kPage)]);
  plan.write.push_back(static_cast<std::int32_t>(position % kPage));
}

// The path of a segment of `count` > 0 tokens that continues `parent`; adds its writes.
Path continue_path(PagePlan& plan, const Path& parent, std::int32_t first_row, std::int64_t count) {
  Path path;
  path.length = parent.length + count;
  const std::int64_t full = parent.length / kPage;
  path.pages.assign(parent.pages.begin(), parent.pages.begin() + full);
  for (std::int64_t i = full; i < pages_for(path.length); ++i)
    path.pages.push_back(static_cast<std::int32_t>(plan.pages++));
  std::int64_t position = full * kPage;
  for (std::int32_t row : parent.tail) write_token(plan, row, path, position++);
  path.tail = parent.tail;
  for (std::int32_t row = first_row; position < path.length; ++row, ++position) {
    if (position % kPage == 0) path.tail.clear();
    path.tail.push_back(row);
    write_token(plan, row, path, position);
  }
  if (path.length % kPage == 0) path.tail.clear();
  return path;
}

}  // namespace

PagePlanLimits batch_plan_limits(std::int64_t tokens, std::int64_t segments, std::int64_t context) {
  // A segment of n tokens that begins in slot a <= 15 uses ceil((a + n) / 16) <= (n + 30) / 16 new pages.
  return {(tokens + 30 * segments) / kPage, segments * pages_for(std::min(tokens, context)),
          tokens + (kPage - 1) * segments};
}

PagePlanLimits extension_plan_limits(std::int64_t tokens, std::int64_t extensions, std::int64_t context) {
  return {0, extensions * pages_for(context), tokens};
}

PagePlan plan_batch(const TokenBatch& batch) {
  PagePlan plan;
  std::vector<Path> paths;
  paths.reserve(static_cast<std::size_t>(batch.segments()));
  const Path empty;
  for (std::int32_t s = 0; s < batch.segments(); ++s) {
    const std::int32_t above = batch.parent[static_cast<std::size_t>(s)];
    const Path& parent = above < 0 ? empty : paths[static_cast<std::size_t>(above)];
    const std::int64_t count = batch.length(s);
    if (count == 0) {
      paths.push_back(parent);
      continue;
    }
    const auto first_row = static_cast<std::int32_t>(batch.offset[static_cast<std::size_t>(s)]);
    Path path = continue_path(plan, parent, first_row, count);
    const auto position = static_cast<std::int32_t>(parent.length);
    path.segment = static_cast<std::int32_t>(plan.queries.size());
    plan.queries.push_back(
        {first_row, static_cast<std::int32_t>(count), position, static_cast<std::int32_t>(plan.page_table.size())});
    plan.trie.push_back({first_row, static_cast<std::int32_t>(count), position, parent.segment});
    plan.page_table.insert(plan.page_table.end(), path.pages.begin(), path.pages.end());
    plan.longest = std::max(plan.longest, path.length);
    paths.push_back(std::move(path));
  }
  return plan;
}

PagePlan plan_extensions(std::span<const Transformer::Extension> extensions) {
  PagePlan plan;
  std::int32_t row = 0;
  for (const Transformer::Extension& extension : extensions) {
    const auto count = static_cast<std::int64_t>(extension.tokens.size());
    if (count == 0) continue;
    const KvCache::Sequence& sequence = *extension.sequence;
    const std::int64_t length = sequence.length + count, pages = pages_for(length);
    MAXPLUS_REQUIRE(pages <= static_cast<std::int64_t>(sequence.pages.size()), "room was reserved for the extension");
    plan.queries.push_back({row, static_cast<std::int32_t>(count), static_cast<std::int32_t>(sequence.length),
                            static_cast<std::int32_t>(plan.page_table.size())});
    plan.page_table.insert(plan.page_table.end(), sequence.pages.begin(), sequence.pages.begin() + pages);
    for (std::int64_t position = sequence.length; position < length; ++position, ++row) {
      plan.write.push_back(row);
      plan.write.push_back(sequence.pages[static_cast<std::size_t>(position / kPage)]);
      plan.write.push_back(static_cast<std::int32_t>(position % kPage));
    }
    plan.longest = std::max(plan.longest, length);
  }
  return plan;
}

}  // namespace maxplus
