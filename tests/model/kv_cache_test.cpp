// Pages are taken, shared, copied and given back.
#include "model/kv_cache.hpp"

#include <gtest/gtest.h>

#include "model/test_model.hpp"

namespace maxplus {
namespace {

struct OwnedCache {
  explicit OwnedCache(std::int64_t pages)
      : config(odd_config(true)),
        stream(1, Stream::Waiting::sleep),
        arena("cache", bytes(pages), Space::host),
        cache(config, pages, arena) {}
  static std::size_t bytes(std::int64_t pages) {
    Arena counting("cache");
    const KvCache cache(odd_config(true), pages, counting);
    return counting.peak();
  }
  ModelConfig config;
  Stream stream;
  Arena arena;
  KvCache cache;
};

TEST(KvCache, MeasuresWhatItTakes) {
  const ModelConfig config = odd_config(true);
  EXPECT_EQ(KvCache::bytes_per_page(config), 2 * 2 * 3 * 10 * 16 * 4);
  const OwnedCache owned(7);
  EXPECT_EQ(owned.arena.used(), owned.arena.capacity());
  EXPECT_GE(static_cast<std::int64_t>(owned.arena.used()), 7 * KvCache::bytes_per_page(config));
}

TEST(KvCache, ReservesWholePagesOrNothing) {
  OwnedCache owned(3);
  KvCache::Sequence a, b;
  EXPECT_EQ(KvCache::pages_to_append(a, 17), 2);
  EXPECT_TRUE(owned.cache.reserve(a, 17));
  EXPECT_EQ(a.pages.size(), 2u);
  EXPECT_EQ(a.length, 0);
  EXPECT_EQ(KvCache::pages_to_append(a, 32), 0);
  EXPECT_FALSE(owned.cache.reserve(b, 17));
  EXPECT_TRUE(b.pages.empty());
  EXPECT_EQ(owned.cache.free_pages(), 1);
  EXPECT_TRUE(owned.cache.reserve(b, 16));
  EXPECT_TRUE(owned.cache.reserve(b, 0));
  owned.cache.release(a);
  EXPECT_EQ(owned.cache.free_pages(), 2);
  EXPECT_TRUE(a.pages.empty());
}

TEST(KvCache, ForkSharesFullPagesAndCopiesTheStraddlingOne) {
  OwnedCache owned(6);
  KvCache::Sequence parent, child, other, late;
  ASSERT_TRUE(owned.cache.reserve(parent, 37));
  parent.length = 37;
  const std::int32_t straddling = parent.pages[2];
  for (std::int64_t l = 0; l < 2; ++l) {
    float mark = static_cast<float>(100 * l);
    for (TensorView view : {owned.cache.keys(l), owned.cache.values(l)}) {
      for (float& v : view.rows(straddling, 1).span<float>()) v = mark++;
    }
  }
  ASSERT_TRUE(owned.cache.fork(owned.stream, parent, child));
  ASSERT_TRUE(owned.cache.fork(owned.stream, parent, other));
  EXPECT_EQ(owned.cache.free_pages(), 1);
  EXPECT_EQ(child.length, 37);
  EXPECT_EQ(child.pages[0], parent.pages[0]);
  EXPECT_EQ(child.pages[1], parent.pages[1]);
  EXPECT_NE(child.pages[2], straddling);
  EXPECT_NE(child.pages[2], other.pages[2]);
  for (std::int64_t l = 0; l < 2; ++l) {
    for (TensorView view : {owned.cache.keys(l), owned.cache.values(l)}) {
      EXPECT_TRUE(same_bits(view.rows(straddling, 1).span<float>(), view.rows(child.pages[2], 1).span<float>()));
    }
  }
  ASSERT_TRUE(owned.cache.reserve(other, 20));  // the last page
  EXPECT_FALSE(owned.cache.fork(owned.stream, parent, late));
  EXPECT_TRUE(late.pages.empty());
  owned.cache.release(parent);
  EXPECT_EQ(owned.cache.free_pages(), 1);  // only the straddling page had one user
  owned.cache.release(child);
  EXPECT_EQ(owned.cache.free_pages(), 2);
  owned.cache.release(other);
  EXPECT_EQ(owned.cache.free_pages(), 6);
}

TEST(KvCache, ForkAtAPageBoundaryTakesNoPage) {
  OwnedCache owned(2);
  KvCache::Sequence parent, child;
  ASSERT_TRUE(owned.cache.reserve(parent, 32));
  parent.length = 32;
  ASSERT_TRUE(owned.cache.fork(owned.stream, parent, child));
  EXPECT_EQ(child.pages, parent.pages);
  owned.cache.reset();
  EXPECT_EQ(owned.cache.free_pages(), 2);
}

}  // namespace
}  // namespace maxplus
