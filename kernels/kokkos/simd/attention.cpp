// Causal attention of up to kAttentionRows rows over pages: online softmax over blocks of 64 keys (ops/attention.hpp).
//
// Blocks of keys are the outer loop, so a block is read from memory once for all rows; within a block all tiles of rows
// use one page of keys, then one group of columns of the values, which thus stay in the first cache. A row sees only
// keys up to its own position: in the last block of a tile the keys that all its rows see are taken together, the few
// others row by row, which continues the same chains.
#include "kokkos/simd/attention_table.hpp"

#include "kokkos/simd/attention_tiles.hpp"
#include "kokkos/simd/lanes.hpp"

namespace maxplus::host::MAXPLUS_SIMD {

namespace {

constexpr int kBlockPages = static_cast<int>(kAttentionKeyBlock / kAttentionPage);
constexpr float kMinusInfinity = -__builtin_inff();

struct State {
  float *query, *out, *score, *maximum, *sum, *factor;
  std::int64_t stride;                 // of query and out
  std::int64_t limit[kAttentionRows];  // keys that a row sees: its position + 1
};

// A block of keys for rows [first_row, task.rows), those that see any of it.
struct Block {
  std::int64_t first_row;
  int pages;
  int keys[kAttentionRows];  // that a row sees of the block
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
  }
  return s;
}

// The largest score that the row sees raises its maximum; returns the old maximum less the new one.
MAXPLUS_LANE float raise_maximum(const float* score, int keys, float& maximum) {
  Lanes largest = broadcast(kMinusInfinity);
  for (int k = 0; k < keys; k += kLanes) {
    const Lanes x = load(score + k);
    largest = max(keys - k >= kLanes ? x : select(keys - k, x, broadcast(kMinusInfinity)), largest);
  }
  const float old = maximum, now = max_lane(largest);
  maximum = now > old ? now : old;
  return old - maximum;
}

// Scores become probabilities relative to the maximum; returns their sum by lanes. Keys that the row does not see get
// 0.
MAXPLUS_LANE float exponentials(float* score, int keys, float maximum) {
  Lanes total = broadcast(0.0f);
  for (int k = 0; k < keys; k += kLanes) {
    Lanes p = exp(load(score + k) - broadcast(maximum));
    if (keys - k < kLanes) p = select(keys - k, p, broadcast(0.0f));
    store(score + k, p);
    total = total + p;
  }
  return sum(total);
}

int rows_of_tile(const AttentionForward& task, std::int64_t row) {
  return task.rows - row < kTileRows ? static_cast<int>(task.rows - row) : kTileRows;
}

Block look_up(const AttentionForward& task, const State& s, std::int64_t first_key) {
  Block b{};
  while (s.limit[b.first_row] <= first_key) ++b.first_row;
  for (std::int64_t r = b.first_row; r < task.rows; ++r) {
    const std::int64_t seen = s.limit[r] - first_key;
    b.keys[r] = static_cast<int>(seen < kAttentionKeyBlock ? seen : kAttentionKeyBlock);
  }
  b.pages = (b.keys[task.rows - 1] + kLanes - 1) / kLanes;
  for (int p = 0; p < b.pages; ++p) {
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
  const int step = task.rows - b.first_row > kTileRows ? 1 : kBlockPages;
  for (int p = 0; p < b.pages; p += step) {
    for (std::int64_t row = b.first_row; row < task.rows; row += kTileRows) {
      const int count = rows_of_tile(task, row), pages = (b.keys[row + count - 1] + kLanes - 1) / kLanes - p;
      if (pages <= 0) continue;
      scores_of(count, s.query + row * s.stride, s.stride, b.key_page + p, b.value_page + p,
                pages < step ? pages : step, s.score + row * kAttentionKeyBlock + p * kLanes, task.width, task.scale);
    }
  }
}

void block_softmax(const AttentionForward& task, State& s, const Block& b) {
  for (std::int64_t r = b.first_row; r < task.rows; ++r) {
    s.factor[r] = raise_maximum(s.score + r * kAttentionKeyBlock, b.keys[r], s.maximum[r]);
  }
  for (std::int64_t r = b.first_row; r < task.rows; r += kLanes) {
    const int left = lanes_left(task.rows, r);
    store_masked(s.factor + r, exp(load_masked(s.factor + r, left, 0.0f)), left);
  }
  for (std::int64_t r = b.first_row; r < task.rows; ++r) {
    const float added = exponentials(s.score + r * kAttentionKeyBlock, b.keys[r], s.maximum[r]);
    s.sum[r] = s.sum[r] * s.factor[r] + added;
  }
}

void block_values(const AttentionForward& task, State& s, const Block& b) {
  const std::int64_t step = task.rows - b.first_row > kTileRows ? kLanes : s.stride;
  for (std::int64_t d = 0; d < task.width; d += step) {
    const std::int64_t last = d + step < task.width ? d + step : task.width;
    for (std::int64_t row = b.first_row; row < task.rows; row += kTileRows) {
      const int count = rows_of_tile(task, row), together = b.keys[row];
      const float* const probability = s.score + row * kAttentionKeyBlock;
      float* const out = s.out + row * s.stride;
      values_of(count, probability, b.value_page, b.next_key_page, d, last, task.width, s.factor + row, out, s.stride,
                0, together);
      if (b.keys[row + count - 1] == together) continue;
      const float one = 1.0f;
      for (int r = 1; r < count; ++r) {
        if (b.keys[row + r] == together) continue;
        values<1>(probability + r * kAttentionKeyBlock, b.value_page, b.next_key_page, d, last, task.width, &one,
                  out + r * s.stride, s.stride, together, b.keys[row + r]);
      }
    }
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
  for (std::int64_t first_key = 0; first_key < s.limit[task.rows - 1]; first_key += kAttentionKeyBlock) {
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
