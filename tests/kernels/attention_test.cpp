// Attention against plain double loops and finite differences; and the promise that everything rests on: a query has
// the same bits alone or among others, token by token or at once, on any pages, with shared prompts, on any team.
//
// Pages start as NaN, so a key or value that a query may not see would show.
#include "ops/attention.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <numeric>

#include "kernels/every_set.hpp"
#include "kernels/host_tensors.hpp"
#include "reference/attention.hpp"

namespace maxplus {
namespace {

using reference::AttentionSegment;
using test::poisoned;
using test::seeded;
using test::view_of;

constexpr double kTolerance = 3e-6;          // chains of up to 130 terms of order 1, two exponentials
constexpr double kGradientTolerance = 3e-5;  // chains over 130 queries times three heads of products of such values
constexpr double kDifferenceTolerance = 1e-7;

struct Shape {
  std::int64_t heads, kv_heads, width;
  float cap = 0;
  std::int64_t window = 0;
  std::int64_t row() const { return (heads + 2 * kv_heads) * width; }
  float scale() const { return static_cast<float>(1 / std::sqrt(static_cast<double>(width))); }
  ops::AttentionRule rule() const { return {scale(), cap, window}; }
  reference::AttentionShape reference() const {
    return {static_cast<std::size_t>(heads), static_cast<std::size_t>(kv_heads), static_cast<std::size_t>(width),
            static_cast<double>(scale()),    static_cast<double>(cap),           static_cast<std::size_t>(window)};
  }
};

using Trie = std::vector<AttentionSegment>;

// Segments of the given lengths and parents, one after the other.
Trie trie_of(std::initializer_list<std::pair<std::size_t, int>> parts) {
  Trie trie;
  std::size_t row = 0;
  for (const auto& [count, parent] : parts) {
    trie.push_back({row, count, parent});
    row += count;
  }
  return trie;
}

std::int64_t tokens_of(const Trie& trie) {
  return trie.empty() ? 0 : static_cast<std::int64_t>(trie.back().first_row + trie.back().count);
}

std::int64_t start_of(const Trie& trie, std::size_t segment) {
  std::int64_t start = 0;
  for (int s = trie[segment].parent; s >= 0; s = trie[static_cast<std::size_t>(s)].parent) {
    start += static_cast<std::int64_t>(trie[static_cast<std::size_t>(s)].count);
  }
  return start;
}

std::int64_t longest_of(const Trie& trie) {
  std::int64_t longest = 0;
  for (std::size_t s = 0; s < trie.size(); ++s)
    longest = std::max(longest, start_of(trie, s) + static_cast<std::int64_t>(trie[s].count));
  return longest;
}

struct Result {
  std::vector<float> out, lse;
};

// A cache of shuffled pages: a segment lists its parent's full pages, and owns a copy of the one that straddles.
class Cache {
 public:
  Cache(const Shape& shape, const Trie& trie, std::uint64_t seed) : shape_(shape), trie_(trie) {
    std::int64_t pages = 3;
    for (std::size_t s = 0; s < trie.size(); ++s) {
      pages += (start_of(trie, s) % ops::kPageTokens + static_cast<std::int64_t>(trie[s].count)) / ops::kPageTokens + 1;
    }
    std::vector<std::int32_t> order(static_cast<std::size_t>(pages));
    std::iota(order.begin(), order.end(), 0);
    for (std::size_t i = order.size(); i > 1; --i) {
      std::swap(order[i - 1], order[uniform_below(i, seed, Purpose::test, i, 77)]);
    }
    pages_ = pages;
    keys_ = poisoned(pages * shape.kv_heads * shape.width * ops::kPageTokens);
    values_ = keys_;
    for (std::size_t s = 0; s < trie.size(); ++s) list_pages(s, order);
  }

  // Attention of all segments, `chunk` tokens a call (each call all segments one after the other, parents first).
  Result run(int threads, std::vector<float> qkv, std::int64_t chunk) {
    const Stream stream(threads, Stream::Waiting::sleep);
    const std::int64_t tokens = tokens_of(trie_);
    Result result{poisoned(tokens * shape_.heads * shape_.width), poisoned(tokens * shape_.heads)};
    for (std::size_t s = 0; s < trie_.size(); ++s) {
      copy_straddling_page(stream, s);
      for (std::int64_t i = 0; i < static_cast<std::int64_t>(trie_[s].count); i += chunk) {
        const std::int64_t count = std::min(chunk, static_cast<std::int64_t>(trie_[s].count) - i);
        write(stream, qkv, s, i, count);
        attend(stream, result, qkv, {segment(s, i, count)});
      }
    }
    return result;
  }

  // All segments in one call, the straddling pages written from the parent's rows.
  Result run_together(int threads, std::vector<float> qkv) {
    const Stream stream(threads, Stream::Waiting::sleep);
    const std::int64_t tokens = tokens_of(trie_);
    Result result{poisoned(tokens * shape_.heads * shape_.width), poisoned(tokens * shape_.heads)};
    std::vector<ops::QuerySegment> segments;
    for (std::size_t s = 0; s < trie_.size(); ++s) {
      write(stream, qkv, s, 0, static_cast<std::int64_t>(trie_[s].count));
      write_inherited(stream, qkv, s);
      segments.push_back(segment(s, 0, static_cast<std::int64_t>(trie_[s].count)));
    }
    attend(stream, result, qkv, segments);
    return result;
  }

 private:
  void list_pages(std::size_t s, std::vector<std::int32_t>& order) {
    const std::int64_t start = start_of(trie_, s), end = start + static_cast<std::int64_t>(trie_[s].count);
    const auto first = static_cast<std::int32_t>(table_.size());
    for (std::int64_t p = 0; p < start / ops::kPageTokens; ++p) {
      table_.push_back(table_[static_cast<std::size_t>(first_page_[static_cast<std::size_t>(trie_[s].parent)] + p)]);
    }
    for (std::int64_t p = start / ops::kPageTokens; p * ops::kPageTokens < end; ++p) {
      table_.push_back(order.back());
      order.pop_back();
    }
    first_page_.push_back(first);
  }

  std::int32_t page(std::size_t s, std::int64_t position) const {
    return table_[static_cast<std::size_t>(first_page_[s] + position / ops::kPageTokens)];
  }

  ops::QuerySegment segment(std::size_t s, std::int64_t i, std::int64_t count) const {
    return {static_cast<std::int32_t>(static_cast<std::int64_t>(trie_[s].first_row) + i),
            static_cast<std::int32_t>(count), static_cast<std::int32_t>(start_of(trie_, s) + i), first_page_[s]};
  }

  void copy_straddling_page(const Stream& stream, std::size_t s) {
    const std::int64_t start = start_of(trie_, s);
    if (start % ops::kPageTokens == 0 || trie_[s].count + start == 0) return;
    std::vector<std::int32_t> copy = {page(static_cast<std::size_t>(trie_[s].parent), start), page(s, start)};
    ops::copy_pages(stream, key_view(), value_view(), view_of(copy, {1, 2}));
  }

  void write_rows(const Stream& stream, std::vector<float>& qkv, std::vector<std::int32_t> writes) {
    ops::write_pages(stream, key_view(), value_view(), view_of(qkv, {tokens_of(trie_), shape_.row()}),
                     view_of(writes, {static_cast<std::int64_t>(writes.size()) / 3, 3}), shape_.heads, shape_.kv_heads,
                     shape_.width);
  }

  void write(const Stream& stream, std::vector<float>& qkv, std::size_t s, std::int64_t i, std::int64_t count) {
    std::vector<std::int32_t> writes;
    for (std::int64_t t = i; t < i + count; ++t) {
      const std::int64_t position = start_of(trie_, s) + t;
      writes.insert(writes.end(), {static_cast<std::int32_t>(static_cast<std::int64_t>(trie_[s].first_row) + t),
                                   page(s, position), static_cast<std::int32_t>(position % ops::kPageTokens)});
    }
    write_rows(stream, qkv, writes);
  }

  void write_inherited(const Stream& stream, std::vector<float>& qkv, std::size_t s) {
    if (trie_[s].count == 0) return;
    const std::int64_t start = start_of(trie_, s);
    const std::vector<std::size_t> rows = reference::visible_rows(trie_, s, 0);
    std::vector<std::int32_t> writes;
    for (std::int64_t position = start / ops::kPageTokens * ops::kPageTokens; position < start; ++position) {
      writes.insert(writes.end(), {static_cast<std::int32_t>(rows[static_cast<std::size_t>(position)]),
                                   page(s, position), static_cast<std::int32_t>(position % ops::kPageTokens)});
    }
    write_rows(stream, qkv, writes);
  }

  void attend(const Stream& stream, Result& result, std::vector<float>& qkv,
              const std::vector<ops::QuerySegment>& segments) {
    const std::int64_t tokens = tokens_of(trie_);
    std::vector<float> scratch = poisoned(ops::attention_scratch(stream, shape_.heads, shape_.kv_heads, shape_.width));
    ops::attention(stream, view_of(result.out, {tokens, shape_.heads * shape_.width}),
                   view_of(result.lse, {tokens, shape_.heads}), view_of(qkv, {tokens, shape_.row()}), key_view(),
                   value_view(), view_of(table_, {static_cast<std::int64_t>(table_.size())}), segments.data(),
                   static_cast<std::int64_t>(segments.size()),
                   view_of(scratch, {static_cast<std::int64_t>(scratch.size())}), shape_.heads, shape_.kv_heads,
                   shape_.width, shape_.rule());
  }

  TensorView key_view() { return view_of(keys_, {pages_, shape_.kv_heads, shape_.width, ops::kPageTokens}); }
  TensorView value_view() { return view_of(values_, {pages_, shape_.kv_heads, ops::kPageTokens, shape_.width}); }

  Shape shape_;
  Trie trie_;
  std::int64_t pages_ = 0;
  std::vector<float> keys_, values_;
  std::vector<std::int32_t> table_, first_page_;
};

std::vector<float> backward(int threads, const Shape& shape, const Trie& trie, std::vector<float> qkv,
                            std::vector<float> d_out, Result forward) {
  const Stream stream(threads, Stream::Waiting::sleep);
  const std::int64_t tokens = tokens_of(trie), longest = longest_of(trie);
  std::vector<ops::TrieSegment> segments;
  for (std::size_t s = 0; s < trie.size(); ++s) {
    segments.push_back({static_cast<std::int32_t>(trie[s].first_row), static_cast<std::int32_t>(trie[s].count),
                        static_cast<std::int32_t>(start_of(trie, s)), trie[s].parent});
  }
  std::vector<float> d_qkv = poisoned(tokens * shape.row());
  std::vector<float> scratch =
      poisoned(ops::attention_backward_scratch(stream, longest, shape.heads, shape.kv_heads, shape.width));
  ops::attention_backward(
      stream, view_of(d_qkv, {tokens, shape.row()}), view_of(d_out, {tokens, shape.heads * shape.width}),
      view_of(forward.out, {tokens, shape.heads * shape.width}), view_of(forward.lse, {tokens, shape.heads}),
      view_of(qkv, {tokens, shape.row()}), segments.data(), static_cast<std::int64_t>(segments.size()), longest,
      view_of(scratch, {static_cast<std::int64_t>(scratch.size())}), shape.heads, shape.kv_heads, shape.width,
      shape.rule());
  return d_qkv;
}

std::vector<Shape> shapes() {
  std::vector<Shape> result;
  for (std::int64_t group : {1, 2, 3}) {
    for (std::int64_t width : {8, 10, 16, 64}) result.push_back({2 * group, 2, width});
  }
  return result;
}

// Windows and soft caps that change something for tests of up to 130 keys.
std::vector<Shape> ruled(Shape shape) {
  std::vector<Shape> result;
  for (const auto& [cap, window] : {std::pair(1.5f, 0), std::pair(0.0f, 1), std::pair(0.0f, 12), std::pair(2.0f, 63),
                                    std::pair(0.0f, 64), std::pair(5.0f, 65)}) {
    shape.cap = cap, shape.window = window;
    result.push_back(shape);
  }
  return result;
}

// A prompt with three answers, one of them continued twice; a lone sequence; empty segments in between.
Trie forest() {
  return trie_of({{21, -1}, {0, -1}, {9, 0}, {30, 0}, {0, 0}, {17, 2}, {70, 3}, {1, -1}, {4, 4}, {65, 1}});
}

TEST(Attention, AgreesWithTheDoubleLoopsForAllLengthsAndShapes) {
  for (const Shape& shape : shapes()) {
    for (std::size_t length : {1, 15, 16, 17, 63, 64, 65, 130}) {
      const Trie trie = trie_of({{length, -1}});
      const std::vector<float> qkv = seeded(tokens_of(trie) * shape.row(), 1, 1.5f),
                               d_out = seeded(tokens_of(trie) * shape.heads * shape.width, 2, 1);
      const Result result = Cache(shape, trie, 5).run_together(2, qkv);
      const reference::Attention expected = reference::attention(shape.reference(), test::to_double(qkv), trie);
      EXPECT_LE(test::largest_error(result.out, expected.out), kTolerance) << length << " keys, width " << shape.width;
      EXPECT_LE(test::largest_error(result.lse, expected.lse), kTolerance) << length << " keys, width " << shape.width;
      EXPECT_LE(test::largest_error(backward(2, shape, trie, qkv, d_out, result),
                                    reference::attention_backward(shape.reference(), test::to_double(qkv),
                                                                  test::to_double(d_out), trie)),
                kGradientTolerance)
          << length << " keys, width " << shape.width;
    }
  }
}

TEST(Attention, AgreesWithTheDoubleLoopsUnderWindowsAndSoftCaps) {
  for (const Shape& plain : {Shape{2, 2, 10}, Shape{3, 1, 16}}) {
    for (const Shape& shape : ruled(plain)) {
      for (std::size_t length : {1, 17, 65, 130}) {
        const Trie trie = trie_of({{length, -1}});
        const std::vector<float> qkv = seeded(tokens_of(trie) * shape.row(), 1, 1.5f),
                                 d_out = seeded(tokens_of(trie) * shape.heads * shape.width, 2, 1);
        const Result result = Cache(shape, trie, 5).run_together(2, qkv);
        const reference::Attention expected = reference::attention(shape.reference(), test::to_double(qkv), trie);
        EXPECT_LE(test::largest_error(result.out, expected.out), kTolerance) << length << " keys, " << shape.window;
        EXPECT_LE(test::largest_error(result.lse, expected.lse), kTolerance) << length << " keys, " << shape.window;
        EXPECT_LE(test::largest_error(backward(2, shape, trie, qkv, d_out, result),
                                      reference::attention_backward(shape.reference(), test::to_double(qkv),
                                                                    test::to_double(d_out), trie)),
                  kGradientTolerance)
            << length << " keys, window " << shape.window << ", cap " << shape.cap;
      }
    }
  }
}

// What lies before a window is not even multiplied by zero: there, NaN does no harm.
TEST(Attention, LeavesOutWhatLiesBeforeTheWindow) {
  const Trie trie = trie_of({{130, -1}});
  for (const std::int64_t window : {1, 20, 64, 70}) {
    const Shape shape{3, 1, 10, 0, window};
    const std::vector<float> qkv = seeded(130 * shape.row(), 3, 2);
    std::vector<float> spoiled = qkv;
    std::fill_n(spoiled.begin(), (130 - window) * shape.row(), std::numeric_limits<float>::quiet_NaN());
    const Result whole = Cache(shape, trie, 1).run_together(1, qkv);
    const Result last = Cache(shape, trie, 2).run_together(1, spoiled);
    const std::int64_t row = shape.heads * shape.width;
    EXPECT_TRUE(test::same_bits({whole.out.end() - row, whole.out.end()}, {last.out.end() - row, last.out.end()}));
  }
}

TEST(Attention, AgreesWithTheDoubleLoopsForATrie) {
  for (const Shape& shape :
       {Shape{2, 2, 10}, Shape{6, 2, 16}, Shape{3, 1, 64}, Shape{6, 2, 10, 2, 24}, Shape{3, 1, 16, 0, 7}}) {
    const Trie trie = forest();
    const std::vector<float> qkv = seeded(tokens_of(trie) * shape.row(), 1, 1.5f),
                             d_out = seeded(tokens_of(trie) * shape.heads * shape.width, 2, 1);
    const Result result = Cache(shape, trie, 5).run_together(2, qkv);
    EXPECT_LE(test::largest_error(result.out, reference::attention(shape.reference(), test::to_double(qkv), trie).out),
              kTolerance);
    EXPECT_LE(test::largest_error(
                  backward(2, shape, trie, qkv, d_out, result),
                  reference::attention_backward(shape.reference(), test::to_double(qkv), test::to_double(d_out), trie)),
              kGradientTolerance);
  }
}

void check_differences(const Shape& shape) {
  const Trie trie = trie_of({{2, -1}, {2, 0}, {1, 0}});
  const std::vector<double> qkv = test::to_double(seeded(tokens_of(trie) * shape.row(), 1, 1)),
                            d_out = test::to_double(seeded(tokens_of(trie) * 6, 2, 1));
  const std::vector<double> d_qkv = reference::attention_backward(shape.reference(), qkv, d_out, trie);
  const auto loss = [&](const std::vector<double>& x) {
    return test::dot(d_out, reference::attention(shape.reference(), x, trie).out);
  };
  for (std::size_t i = 0; i < qkv.size(); ++i)
    EXPECT_NEAR(d_qkv[i], test::difference(qkv, i, loss), kDifferenceTolerance);
}

TEST(Attention, HasTheGradientThatDifferencesShow) {
  for (const Shape& shape : {Shape{2, 1, 3}, Shape{2, 1, 3, 0.5f, 2}}) check_differences(shape);
}

TEST(Attention, GivesAQueryTheSameBitsAloneOrAmongOthersOnAnyPages) {
  std::vector<Shape> all = shapes();
  for (const Shape& plain : {Shape{2, 2, 10}, Shape{3, 1, 16}}) {
    for (const Shape& shape : ruled(plain)) all.push_back(shape);
  }
  for (const Shape& shape : all) {
    const Trie trie = forest();
    const std::vector<float> qkv = seeded(tokens_of(trie) * shape.row(), 3, 2);
    const Result together = Cache(shape, trie, 1).run_together(2, qkv);
    for (std::int64_t chunk : {1, 5, 16, 1000}) {
      const Result chunked =
          Cache(shape, trie, 10 + static_cast<std::uint64_t>(chunk)).run(1 + static_cast<int>(chunk) % 3, qkv, chunk);
      EXPECT_TRUE(test::same_bits(together.out, chunked.out)) << "chunks of " << chunk << ", width " << shape.width;
      EXPECT_TRUE(test::same_bits(together.lse, chunked.lse)) << "chunks of " << chunk << ", width " << shape.width;
    }
  }
}

TEST(Attention, GivesASequenceTheSameBitsWithoutSharedPrompt) {
  const Shape shape{6, 2, 10};
  const Trie shared = trie_of({{37, -1}, {20, 0}, {33, 0}}), alone = trie_of({{70, -1}});
  const std::vector<float> qkv = seeded(tokens_of(shared) * shape.row(), 3, 2);
  std::vector<float> own(qkv.begin(), qkv.begin() + 37 * shape.row());
  own.insert(own.end(), qkv.begin() + 57 * shape.row(), qkv.end());
  const Result with = Cache(shape, shared, 1).run_together(2, qkv),
               without = Cache(shape, alone, 2).run_together(1, own);
  const std::int64_t row = shape.heads * shape.width;
  EXPECT_TRUE(test::same_bits({with.out.begin() + 57 * row, with.out.end()},
                              {without.out.begin() + 37 * row, without.out.end()}));
  EXPECT_TRUE(test::same_bits({with.out.begin(), with.out.begin() + 37 * row},
                              {without.out.begin(), without.out.begin() + 37 * row}));
}

TEST(Attention, GivesTheSameBitsWithAnyInstructionSetOnAnyTeam) {
  for (const Shape& shape : {Shape{2, 2, 10}, Shape{3, 1, 64}, Shape{6, 2, 10, 2, 24}, Shape{2, 2, 10, 0, 9}}) {
    const Trie trie = forest();
    const std::vector<float> qkv = seeded(tokens_of(trie) * shape.row(), 3, 2),
                             d_out = seeded(tokens_of(trie) * shape.heads * shape.width, 4, 1);
    const Result one = Cache(shape, trie, 1).run_together(1, qkv);
    const std::vector<float> d_one = backward(1, shape, trie, qkv, d_out, one);
    test::with_every_set_and_team([&](int threads) {
      const Result other = Cache(shape, trie, 1).run_together(threads, qkv);
      EXPECT_TRUE(test::same_bits(one.out, other.out));
      EXPECT_TRUE(test::same_bits(one.lse, other.lse));
      EXPECT_TRUE(test::same_bits(d_one, backward(threads, shape, trie, qkv, d_out, other)));
    });
  }
}

TEST(Attention, GivesATreeTheSameGradientBitsWhateverOtherTreesAreThere) {
  const Shape shape{6, 2, 16};
  const Trie small = trie_of({{21, -1}, {30, 0}, {50, 0}}),
             large = trie_of({{21, -1}, {30, 0}, {50, 0}, {67, -1}, {3, 3}});
  const std::vector<float> qkv = seeded(tokens_of(large) * shape.row(), 5, 1),
                           d_out = seeded(tokens_of(large) * shape.heads * shape.width, 6, 1);
  const std::vector<float> small_qkv(qkv.begin(), qkv.begin() + tokens_of(small) * shape.row());
  const std::vector<float> small_d_out(d_out.begin(), d_out.begin() + tokens_of(small) * shape.heads * shape.width);
  const std::vector<float> d_large = backward(2, shape, large, qkv, d_out, Cache(shape, large, 1).run_together(2, qkv));
  const std::vector<float> d_small =
      backward(2, shape, small, small_qkv, small_d_out, Cache(shape, small, 2).run_together(2, small_qkv));
  EXPECT_TRUE(test::same_bits(d_small, {d_large.begin(), d_large.begin() + tokens_of(small) * shape.row()}));
}

TEST(Attention, RefusesAPageThatDoesNotExist) {
  const Stream stream(1, Stream::Waiting::sleep);
  std::vector<float> qkv = seeded(3 * 4, 1, 1), out = poisoned(4), lse = poisoned(1), pages = poisoned(64),
                     scratch = poisoned(ops::attention_scratch(stream, 1, 1, 4));
  std::vector<std::int32_t> table = {1};
  const ops::QuerySegment segment{0, 1, 0, 0};
  EXPECT_THROW(
      ops::attention(stream, view_of(out, {1, 4}), view_of(lse, {1, 1}), view_of(qkv, {1, 12}),
                     view_of(pages, {1, 1, 4, 16}), view_of(pages, {1, 1, 16, 4}), view_of(table, {1}), &segment, 1,
                     view_of(scratch, {static_cast<std::int64_t>(scratch.size())}), 1, 1, 4, {0.5f}),
      Error);
}

}  // namespace
}  // namespace maxplus
