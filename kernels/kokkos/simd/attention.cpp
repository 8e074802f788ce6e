// Causal attention of up to kAttentionRows rows over pages: online softmax over blocks of 64 keys (ops/attention.hpp).
//
// Blocks of keys are the outer loop, tiles of rows the inner one, so a block is read from memory once for all rows. A row
// sees only keys up to its own position: in the last block of a tile the keys that all its rows see are taken together,
// the few others row by row, which continues the same chains.
#include "kokkos/simd/attention_table.hpp"

#include "kokkos/simd/attention_tiles.hpp"
#include "kokkos/simd/lanes.hpp"

namespace maxplus::host::MAXPLUS_SIMD {

namespace {

constexpr int kBlockPages = static_cast<int>(kAttentionKeyBlock / kAttentionPage);
constexpr float kMinusInfinity = -__builtin_inff();

struct State {
  float *query, *out, *score, *maximum, *sum;
  std::int64_t stride;  // of query and out
  std::int64_t limit[kAttentionRows];  // keys that a row sees: its position + 1
};

State begin(const AttentionForward& task) {
  State s;
  s.stride = attention_padded_width(task.width);
  s.query = task.scratch;
  s.out = s.query + kAttentionRows * s.stride;
  s.score = s.out + kAttentionRows * s.stride;
  s.maximum = s.score + 16 * kAttentionKeyBlock;
  s.sum = s.maximum + kAttentionRows;
  for (std::int64_t r = 0; r < task.rows; ++r) {
    const std::int64_t token = (task.first_row + r) / task.group, head = (task.first_row + r) % task.group;
    const float* const from = task.query + token * task.query_stride + head * task.width;
    for (std::int64_t d = 0; d < task.width; ++d) s.query[r * s.stride + d] = from[d];
    for (std::int64_t d = 0; d < s.stride; ++d) s.out[r * s.stride + d] = 0.0f;
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

// Scores become probabilities relative to the maximum; returns their sum by lanes. Keys that the row does not see get 0.
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

// Rows [row, row + count) against one block; keys[r] of it are seen.
void tile(const AttentionForward& task, State& s, std::int64_t row, int count, const int* keys, const float* const* key_page,
          const float* const* value_page) {
  const int pages = (keys[count - 1] + kLanes - 1) / kLanes;
  scores_of(count, s.query + row * s.stride, s.stride, key_page, pages, s.score, task.width, task.scale);
  alignas(64) float factor[kLanes] = {};
  for (int r = 0; r < count; ++r) factor[r] = raise_maximum(s.score + r * kAttentionKeyBlock, keys[r], s.maximum[row + r]);
  store(factor, exp(load(factor)));
  for (int r = 0; r < count; ++r) {
    const float added = exponentials(s.score + r * kAttentionKeyBlock, keys[r], s.maximum[row + r]);
    s.sum[row + r] = s.sum[row + r] * factor[r] + added;
  }
  float* const out = s.out + row * s.stride;
  values_of(count, s.score, value_page, task.width, factor, out, s.stride, 0, keys[0]);
  const float one = 1.0f;
  for (int r = 0; r < count; ++r) {
    if (keys[r] == keys[0]) continue;
    values<1>(s.score + r * kAttentionKeyBlock, value_page, task.width, &one, out + r * s.stride, s.stride, keys[0], keys[r]);
  }
}

void block(const AttentionForward& task, State& s, std::int64_t first_key, const float* const* key_page,
           const float* const* value_page) {
  for (std::int64_t row = 0; row < task.rows; row += kTileRows) {
    const std::int64_t end = row + kTileRows < task.rows ? row + kTileRows : task.rows;
    int keys[kTileRows] = {}, count = 0;
    std::int64_t first = row;
    while (first < end && s.limit[first] <= first_key) ++first;
    for (std::int64_t r = first; r < end; ++r) {
      const std::int64_t seen = s.limit[r] - first_key;
      keys[count++] = static_cast<int>(seen < kAttentionKeyBlock ? seen : kAttentionKeyBlock);
    }
    if (count > 0) tile(task, s, first, count, keys, key_page, value_page);
  }
}

void finish(const AttentionForward& task, const State& s) {
  for (std::int64_t r = 0; r < task.rows; ++r) {
    const std::int64_t token = (task.first_row + r) / task.group, head = (task.first_row + r) % task.group;
    float* const to = task.out + token * task.out_stride + head * task.width;
    for (std::int64_t d = 0; d < task.width; d += kLanes) {
      const int left = task.width - d < kLanes ? static_cast<int>(task.width - d) : kLanes;
      store_masked(to + d, div(load(s.out + r * s.stride + d), broadcast(s.sum[r])), left);
    }
    task.lse[token * task.lse_stride + head] = s.maximum[r] + log1_(s.sum[r]);
  }
}

void forward(const AttentionForward& task) {
  State s = begin(task);
  const std::int64_t limit = s.limit[task.rows - 1];
  for (std::int64_t first = 0; first < limit; first += kAttentionKeyBlock) {
    const float *key_page[kBlockPages] = {}, *value_page[kBlockPages] = {};
    for (int p = 0; p < kBlockPages && first + p * kAttentionPage < limit; ++p) {
      const std::int64_t page = task.pages[first / kAttentionPage + p];
      key_page[p] = task.key_pages + page * task.page_stride;
      value_page[p] = task.value_pages + page * task.page_stride;
    }
    block(task, s, first, key_page, value_page);
  }
  finish(task, s);
}

constexpr AttentionTable kTable = {forward};

}  // namespace

const AttentionTable& attention_table() { return kTable; }

}  // namespace maxplus::host::MAXPLUS_SIMD
