// Causal attention of up to kAttentionRows rows over pages: online softmax over blocks of 64 keys (ops/attention.hpp).
//
// Blocks of keys are the outer loop, so a block is read from memory once for all rows; within a block all tiles of rows
// use one page of keys, then one group of columns of the values, which thus stay in the first cache. A row sees only
// keys up to its own position, and of those perhaps only the last few (a window): where an edge crosses a tile, the
// keys that all its rows see are taken together, the few before and behind them row by row, in the order of the same
// chains.
#include "kokkos/simd/attention_table.hpp"

#include "kokkos/simd/attention_tiles.hpp"
#include "kokkos/simd/lanes.hpp"

namespace maxplus::host::MAXPLUS_SIMD {

namespace {

constexpr int kBlockPages = static_cast<int>(kAttentionKeyBlock / kAttentionPage);
constexpr float kMinusInfinity = -__builtin_inff();

struct State {
  float *query, *out, *score, *maximum, *sum, *factor;
  std::int64_t stride;  // of query and out
  // A row sees the keys [first, limit): limit is its position + 1.
  std::int64_t first[kAttentionRows], limit[kAttentionRows];
};

// A block of keys for rows [first_row, last_row), those that see any of it: keys [begin, end) of the block, which
// ascend with the rows.
struct Block {
  std::int64_t first_row, last_row;
  int first_page, pages;  // pages [first_page, pages) are needed
  int begin[kAttentionRows], end[kAttentionRows];
  const float *key_page[kBlockPages], *value_page[kBlockPages];
  const float* next_key_page[kBlockPages];  // of the next block, where there is one
};

int lanes_left(std::int64_t extent, std::int64_t at) {
  return extent - at < kLanes ? static_cast<int>(extent - at) : kLanes;
}

State begin(const AttentionForward& task) {
  State s;
  s.stride = attention_padded_width(task.width);
  s.query = task.scratch;
  s.out = s.query + kAttentionRows * s.stride;
  s.score = s.out + kAttentionRows * s.stride;
  s.maximum = s.score + kAttentionRows * kAttentionKeyBlock;
  s.sum = s.maximum + kAttentionRows;
  s.factor = s.sum + kAttentionRows;
  for (std::int64_t r = 0; r < task.rows; ++r) {
    const std::int64_t token = (task.first_row + r) / task.group, head = (task.first_row + r) % task.group;
    const float* const from = task.query + token * task.query_stride + head * task.width;
    for (std::int64_t d = 0; d < s.stride; d += kLanes) {
      store(s.query + r * s.stride + d, load_masked(from + d, lanes_left(task.width, d), 0.0f));
      store(s.out + r * s.stride + d, broadcast(0.0f));
    }
    s.maximum[r] = kMinusInfinity;
    s.sum[r] = 0.0f;
    s.limit[r] = task.first_position + token + 1;
    s.first[r] = task.window > 0 && s.limit[r] > task.window ? s.limit[r] - task.window : 0;
  }
  return s;
}

// Scores of a row's keys [begin, end) under the soft cap.
MAXPLUS_LANE void cap_scores(float* score, int begin, int end, Lanes cap, Lanes inverse_cap) {
  for (int k = begin / kLanes * kLanes; k < end; k += kLanes) {
    store(score + k, cap * tanh(load(score + k) * inverse_cap));
  }
}

// `x` holds keys k, k + 1, ...: those outside of [begin, end) become `other`.
MAXPLUS_LANE Lanes seen_only(Lanes x, int k, int begin, int end, Lanes other) {
  if (end - k < kLanes) x = select(end - k, x, other);
  if (begin > k) x = select(begin - k, other, x);
  return x;
}

// The largest score that the row sees raises its maximum; returns the old maximum less the new one.
MAXPLUS_LANE float raise_maximum(const float* score, int begin, int end, float& maximum) {
  const Lanes lowest = broadcast(kMinusInfinity);
  Lanes largest = lowest;
  for (int k = begin / kLanes * kLanes; k < end; k += kLanes) {
    largest = max(seen_only(load(score + k), k, begin, end, lowest), largest);
  }
  const float old = maximum, now = max_lane(largest);
  maximum = now > old ? now : old;
  return old - maximum;
}

// Scores become probabilities relative to the maximum; returns their sum by lanes. Keys that the row does not see get
// 0.
MAXPLUS_LANE float exponentials(float* score, int begin, int end, float maximum) {
  const Lanes zero = broadcast(0.0f);
  Lanes total = zero;
  for (int k = begin / kLanes * kLanes; k < end; k += kLanes) {
    const Lanes p = seen_only(exp(load(score + k) - broadcast(maximum)), k, begin, end, zero);
    store(score + k, p);
    total = total + p;
  }
  return sum(total);
}

int rows_of_tile(const Block& b, std::int64_t row) {
  return b.last_row - row < kTileRows ? static_cast<int>(b.last_row - row) : kTileRows;
}

int within_block(std::int64_t key) {
  return key < 0 ? 0 : static_cast<int>(key < kAttentionKeyBlock ? key : kAttentionKeyBlock);
}

Block look_up(const AttentionForward& task, const State& s, std::int64_t first_key) {
  Block b;
  b.first_row = 0;
  while (s.limit[b.first_row] <= first_key) ++b.first_row;
  b.last_row = task.rows;
  while (s.first[b.last_row - 1] >= first_key + kAttentionKeyBlock) --b.last_row;
  for (std::int64_t r = b.first_row; r < b.last_row; ++r) {
    b.begin[r] = within_block(s.first[r] - first_key);
    b.end[r] = within_block(s.limit[r] - first_key);
  }
  b.first_page = b.begin[b.first_row] / kLanes;
  b.pages = (b.end[b.last_row - 1] + kLanes - 1) / kLanes;
  for (int p = b.first_page; p < b.pages; ++p) {
    const std::int64_t page = task.pages[first_key / kAttentionPage + p];
    b.key_page[p] = task.key_pages + page * task.page_stride;
    b.value_page[p] = task.value_pages + page * task.page_stride;
    const std::int64_t next = first_key + kAttentionKeyBlock + p * kAttentionPage;
    b.next_key_page[p] = next < s.limit[task.rows - 1]
                             ? task.key_pages + task.pages[next / kAttentionPage] * task.page_stride
                             : b.value_page[p];
  }
  return b;
}

// Pages that no row of a tile sees are left out. A single tile takes all its pages at once.
void block_scores(const AttentionForward& task, State& s, const Block& b) {
  const int step = b.last_row - b.first_row > kTileRows ? 1 : kBlockPages;
  for (int p = b.first_page; p < b.pages; p += step) {
    for (std::int64_t row = b.first_row; row < b.last_row; row += kTileRows) {
      const int count = rows_of_tile(b, row), pages = (b.end[row + count - 1] + kLanes - 1) / kLanes - p;
      if (pages <= 0 || p < b.begin[row] / kLanes) continue;
      scores_of(count, s.query + row * s.stride, s.stride, b.key_page + p, b.value_page + p,
                pages < step ? pages : step, s.score + row * kAttentionKeyBlock + p * kLanes, task.width, task.scale);
    }
  }
}

void block_softmax(const AttentionForward& task, State& s, const Block& b) {
  if (task.cap > 0) {
    const Lanes cap = broadcast(task.cap), inverse_cap = broadcast(1.0f / task.cap);
    for (std::int64_t r = b.first_row; r < b.last_row; ++r) {
      cap_scores(s.score + r * kAttentionKeyBlock, b.begin[r], b.end[r], cap, inverse_cap);
    }
  }
  for (std::int64_t r = b.first_row; r < b.last_row; ++r) {
    s.factor[r] = raise_maximum(s.score + r * kAttentionKeyBlock, b.begin[r], b.end[r], s.maximum[r]);
  }
  for (std::int64_t r = b.first_row; r < b.last_row; r += kLanes) {
    const int left = lanes_left(b.last_row, r);
    store_masked(s.factor + r, exp(load_masked(s.factor + r, left, 0.0f)), left);
  }
  for (std::int64_t r = b.first_row; r < b.last_row; ++r) {
    const float added = exponentials(s.score + r * kAttentionKeyBlock, b.begin[r], b.end[r], s.maximum[r]);
    s.sum[r] = s.sum[r] * s.factor[r] + added;
  }
}

constexpr float kOnes[12] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
static_assert(kTileRows <= 12);

// Columns [d, last) of the outputs of one tile.
void tile_values(const AttentionForward& task, State& s, const Block& b, std::int64_t row, std::int64_t d,
                 std::int64_t last) {
  const int count = rows_of_tile(b, row);
  const int begin = b.begin[row + count - 1], end = b.end[row];  // what all its rows see
  const float* const probability = s.score + row * kAttentionKeyBlock;
  float* const out = s.out + row * s.stride;
  const auto one_row = [&](int r, const float* factor, int from, int to) {
    values<1>(probability + r * kAttentionKeyBlock, b.value_page, b.next_key_page, d, last, task.width, factor,
              out + r * s.stride, s.stride, from, to);
  };
  if (begin >= end) {
    for (int r = 0; r < count; ++r) one_row(r, s.factor + row + r, b.begin[row + r], b.end[row + r]);
    return;
  }
  const bool early = b.begin[row] < begin;
  for (int r = 0; early && r < count; ++r) one_row(r, s.factor + row + r, b.begin[row + r], begin);
  values_of(count, probability, b.value_page, b.next_key_page, d, last, task.width, early ? kOnes : s.factor + row, out,
            s.stride, begin, end);
  for (int r = 1; b.end[row + count - 1] != end && r < count; ++r) {
    if (b.end[row + r] != end) one_row(r, kOnes, end, b.end[row + r]);
  }
}

void block_values(const AttentionForward& task, State& s, const Block& b) {
  const std::int64_t step = b.last_row - b.first_row > kTileRows ? kLanes : s.stride;
  for (std::int64_t d = 0; d < task.width; d += step) {
    const std::int64_t last = d + step < task.width ? d + step : task.width;
    for (std::int64_t row = b.first_row; row < b.last_row; row += kTileRows) tile_values(task, s, b, row, d, last);
  }
}

void finish(const AttentionForward& task, const State& s) {
  for (std::int64_t r = 0; r < task.rows; ++r) {
    const std::int64_t token = (task.first_row + r) / task.group, head = (task.first_row + r) % task.group;
    float* const to = task.out + token * task.out_stride + head * task.width;
    for (std::int64_t d = 0; d < task.width; d += kLanes) {
      store_masked(to + d, div(load(s.out + r * s.stride + d), broadcast(s.sum[r])), lanes_left(task.width, d));
    }
    task.lse[token * task.lse_stride + head] = s.maximum[r] + log1_(s.sum[r]);
  }
}

void forward(const AttentionForward& task) {
  State s = begin(task);
  for (std::int64_t first_key = s.first[0] / kAttentionKeyBlock * kAttentionKeyBlock;
       first_key < s.limit[task.rows - 1]; first_key += kAttentionKeyBlock) {
    const Block b = look_up(task, s, first_key);
    block_scores(task, s, b);
    block_softmax(task, s, b);
    block_values(task, s, b);
  }
  finish(task, s);
}

constexpr AttentionTable kTable = {forward};

}  // namespace

const AttentionTable& attention_table() { return kTable; }

}  // namespace maxplus::host::MAXPLUS_SIMD
