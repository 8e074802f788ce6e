#include "parallel/gradient_sync.hpp"

#include <algorithm>
#include <bit>
#include <span>

#include <fmt/format.h>

#include "base/error.hpp"
#include "ops/elementwise.hpp"

namespace maxplus {

namespace {

constexpr std::int64_t kScratchElements = 1 << 20;  // 4 MiB for what is sent in a round, as much for what is received

bool closes(const Subtree& left, const Subtree& right) {
  return left.slices == right.slices && left.first % (2 * left.slices) == 0 && left.first + left.slices == right.first;
}

// Closes what can be closed at the end of a counter; `add(left)` adds node left + 1 to node left.
template <class Add>
void close_nodes(std::vector<Subtree>& held, Add add) {
  while (held.size() > 1 && closes(held[held.size() - 2], held.back())) {
    add(held.size() - 2);
    held.pop_back();
    held.back().slices *= 2;
  }
}

// How many buffers a rank's counter fills at once.
std::size_t depth_of_range(SliceRange range) {
  std::vector<Subtree> held;
  std::size_t deepest = 1;
  for (int s = range.first; s < range.last; ++s) {
    held.push_back({s, 1});
    deepest = std::max(deepest, held.size());
    close_nodes(held, [](std::size_t) {});
  }
  return deepest;
}

std::int64_t part_begin(std::int64_t elements, int rank, int ranks) {
  return elements / ranks * rank + std::min<std::int64_t>(rank, elements % ranks);
}

// The subtrees of all ranks in slice order, and how many each rank holds.
struct Holdings {
  std::vector<Subtree> subtree;
  std::vector<std::size_t> of_rank;
};

Holdings holdings(int slices, int ranks) {
  Holdings all;
  for (int r = 0; r < ranks; ++r) {
    const auto mine = subtrees_of_range(slices_of_rank(slices, r, ranks));
    all.of_rank.push_back(mine.size());
    all.subtree.insert(all.subtree.end(), mine.begin(), mine.end());
  }
  return all;
}

// Elements of a part that one round moves: the largest sender fills its scratch.
std::int64_t round_elements(const Holdings& all, std::int64_t elements, int ranks) {
  const std::size_t most = *std::max_element(all.of_rank.begin(), all.of_rank.end());
  const std::int64_t fit = kScratchElements / (static_cast<std::int64_t>(most) * ranks);
  const std::int64_t part = (elements + ranks - 1) / ranks;
  return std::max<std::int64_t>(1, std::min(fit, part));
}

// Rows are the subtrees of all ranks, in slice order; the sum of all ends in row 0, which is returned. Every addition
// is left + right of one node, so the order in which nodes close does not matter.
TensorView complete_tree(const Stream& stream, TensorView rows, std::span<const Subtree> subtree) {
  std::vector<std::int64_t> row;
  std::vector<Subtree> node;
  for (std::size_t i = 0; i < subtree.size(); ++i) {
    row.push_back(static_cast<std::int64_t>(i));
    node.push_back(subtree[i]);
    while (node.size() > 1 && closes(node[node.size() - 2], node.back())) {
      const TensorView left = rows.rows(row[row.size() - 2], 1);
      ops::add(stream, left, left, rows.rows(row.back(), 1));
      row.pop_back();
      node.pop_back();
      node.back().slices *= 2;
    }
  }
  MAXPLUS_REQUIRE(node.size() == 1, "the subtrees of all ranks do not close into one tree");
  return rows.rows(0, 1);
}

std::size_t bytes_of(std::int64_t elements) { return static_cast<std::size_t>(elements) * sizeof(float); }

}  // namespace

SliceRange slices_of_rank(int slices, int rank, int ranks) {
  return {static_cast<int>(part_begin(slices, rank, ranks)), static_cast<int>(part_begin(slices, rank + 1, ranks))};
}

std::vector<Subtree> subtrees_of_range(SliceRange range) {
  std::vector<Subtree> held;
  for (int s = range.first; s < range.last; ++s) {
    held.push_back({s, 1});
    close_nodes(held, [](std::size_t) {});
  }
  return held;
}

GradientSum::GradientSum(Arena& arena, std::int64_t elements, int slices, int rank, int ranks)
    : elements_(elements), slices_(slices), range_(slices_of_rank(slices, rank, ranks)), next_slice_(range_.first) {
  MAXPLUS_REQUIRE(slices >= 1 && std::has_single_bit(static_cast<unsigned>(slices)),
                  fmt::format("{} slices: not a power of two", slices));
  MAXPLUS_REQUIRE(ranks <= slices, fmt::format("{} ranks for {} slices", ranks, slices));
  const std::size_t depth = depth_of_range(range_);
  for (std::size_t i = 0; i < depth; ++i) buffer_.push_back(arena.take(DType::f32, {elements}));
  if (ranks == 1) return;
  const Holdings all = holdings(slices, ranks);
  const std::int64_t round = round_elements(all, elements, ranks);
  const auto sent = static_cast<std::int64_t>(all.of_rank[static_cast<std::size_t>(rank)]) * ranks * round;
  const auto received = static_cast<std::int64_t>(all.subtree.size()) * round;
  exchange_ = arena.take(DType::f32, {sent + received});
}

TensorView GradientSum::begin_slice(const Stream& stream) {
  MAXPLUS_REQUIRE(next_slice_ < range_.last, "more slices than this rank has");
  const TensorView buffer = buffer_[held_.size()];
  ops::fill(stream, buffer, 0.0f);
  return buffer;
}

void GradientSum::end_slice(const Stream& stream) {
  MAXPLUS_REQUIRE(next_slice_ < range_.last, "a slice ends that did not begin");
  held_.push_back({next_slice_++, 1});
  close_nodes(held_, [&](std::size_t left) { ops::add(stream, buffer_[left], buffer_[left], buffer_[left + 1]); });
}

void GradientSum::finish(const Stream& stream, const Communicator& data_ranks, TensorView total) {
  MAXPLUS_REQUIRE(next_slice_ == range_.last, fmt::format("{} slices are missing", range_.last - next_slice_));
  MAXPLUS_REQUIRE(total.size() == elements_, "the total has another size");
  const int ranks = data_ranks.size(), me = data_ranks.rank();
  if (ranks == 1) {
    MAXPLUS_REQUIRE(held_.size() == 1, "one rank must hold the whole tree");
    if (total.data() != buffer_[0].data()) ops::copy(stream, total, buffer_[0]);
  } else {
    sum_own_part(stream, data_ranks, total);
    std::vector<std::size_t> bytes;
    for (int r = 0; r < ranks; ++r) {
      bytes.push_back(bytes_of(part_begin(elements_, r + 1, ranks) - part_begin(elements_, r, ranks)));
    }
    MAXPLUS_REQUIRE(me < ranks && range_.first == slices_of_rank(slices_, me, ranks).first,
                    "another rank than planned");
    data_ranks.gather_all_in_place(total.data(), bytes);
  }
  held_.clear();
  next_slice_ = range_.first;
}

// Round by round: my subtrees' pieces of every part go to the owners of the parts, and the tree is finished for my own
// part. A round has read its piece of a buffer before it writes the same piece of `total`, so `total` may be the first
// buffer.
void GradientSum::sum_own_part(const Stream& stream, const Communicator& data_ranks, TensorView total) {
  const int ranks = data_ranks.size(), me = data_ranks.rank();
  const Holdings all = holdings(slices_, ranks);
  const std::int64_t round = round_elements(all, elements_, ranks);
  const std::int64_t longest = part_begin(elements_, 1, ranks);  // part 0 is among the largest
  const TensorView flat_total = total.reshaped({elements_});
  for (std::int64_t at = 0; at < longest; at += round) {
    std::int64_t filled = 0, own = 0, own_begin = 0;
    std::vector<std::size_t> send, receive;
    for (int r = 0; r < ranks; ++r) {
      const std::int64_t begin = part_begin(elements_, r, ranks) + at;
      const std::int64_t count = std::clamp<std::int64_t>(part_begin(elements_, r + 1, ranks) - begin, 0, round);
      for (std::size_t i = 0; i < held_.size() && count > 0; ++i) {
        ops::copy(stream, exchange_.rows(filled, count), buffer_[i].rows(begin, count));
        filled += count;
      }
      send.push_back(held_.size() * bytes_of(count));
      if (r == me) own = count, own_begin = begin;
    }
    for (int r = 0; r < ranks; ++r) receive.push_back(all.of_rank[static_cast<std::size_t>(r)] * bytes_of(own));
    const auto rows = static_cast<std::int64_t>(all.subtree.size());
    const TensorView received = exchange_.rows(filled, rows * own).reshaped({rows, own});
    stream.synchronize();
    data_ranks.exchange(exchange_.data(), send, received.data(), receive);
    if (own == 0) continue;
    const TensorView sum = complete_tree(stream, received, all.subtree).reshaped({own});
    ops::copy(stream, flat_total.rows(own_begin, own), sum);
  }
  stream.synchronize();
}

}  // namespace maxplus
