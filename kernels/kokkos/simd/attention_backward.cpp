// Gradient of causal attention for the queries of one segment (ops/attention.hpp): probabilities are recomputed from
// lse.
//
//   P = exp(S - lse)     dP = d_out v     delta = sum over D of d_out out, by lanes     dS = P (dP - delta) scale
//   with a soft cap: t = tanh(S / cap), P = exp(cap t - lse), dS times 1 - t^2
//   d_query += dS key    d_key += dS^T query    d_value += P^T d_out
//
// Up to kAttentionRows rows at a time meet the blocks of 64 keys in ascending order, so a query's gradient is a chain
// over keys ascending and a key's is a chain over rows ascending. P and dS are zero where a row does not see a key;
// those zeros take part only in tiles that the diagonal or the window's edge crosses.
#include "kokkos/simd/attention_backward_table.hpp"

#include "kokkos/simd/lanes.hpp"
#include "kokkos/simd/tile.hpp"

namespace maxplus::host::MAXPLUS_SIMD {

namespace {

struct Rows {
  float *query, *d_out, *d_query, *probability, *d_score, *lse, *delta;
  std::int64_t stride;  // of query, d_out, d_query
  std::int64_t first, count;
  // A row sees the keys [low, limit): limit is its position + 1.
  std::int64_t low[kAttentionRows], limit[kAttentionRows];
};

int lanes_left(std::int64_t extent, std::int64_t at) {
  return extent - at < kLanes ? static_cast<int>(extent - at) : kLanes;
}

Rows place(const AttentionBackward& task) {
  Rows b;
  b.stride = attention_padded_width(task.width);
  b.query = task.scratch;
  b.d_out = b.query + kAttentionRows * b.stride;
  b.d_query = b.d_out + kAttentionRows * b.stride;
  b.probability = b.d_query + kAttentionRows * b.stride;
  b.d_score = b.probability + kAttentionRows * kAttentionKeyBlock;
  b.lse = b.d_score + kAttentionRows * kAttentionKeyBlock;
  b.delta = b.lse + kAttentionRows;
  b.first = b.count = 0;
  return b;
}

// Brings rows [first, first + count) together; columns behind D are zero.
void take(const AttentionBackward& task, Rows& b) {
  for (std::int64_t r = 0; r < b.count; ++r) {
    const std::int64_t token = (b.first + r) / task.group, head = (b.first + r) % task.group;
    const float* const query = task.query + token * task.query_stride + head * task.width;
    const float* const out = task.out + token * task.out_stride + head * task.width;
    const float* const d_out = task.d_out + token * task.out_stride + head * task.width;
    Lanes delta = broadcast(0.0f);
    for (std::int64_t d = 0; d < task.width; d += kLanes) {
      const int left = lanes_left(task.width, d);
      const Lanes gradient = load_masked(d_out + d, left, 0.0f);
      store(b.query + r * b.stride + d, load_masked(query + d, left, 0.0f));
      store(b.d_out + r * b.stride + d, gradient);
      store(b.d_query + r * b.stride + d, broadcast(0.0f));
      delta = fma(gradient, load_masked(out + d, left, 0.0f), delta);
    }
    b.delta[r] = sum(delta);
    b.lse[r] = task.lse[token * task.lse_stride + head];
    b.limit[r] = task.first_position + token + 1;
    b.low[r] = task.window > 0 && b.limit[r] > task.window ? b.limit[r] - task.window : 0;
  }
}

void put(const AttentionBackward& task, const Rows& b) {
  for (std::int64_t r = 0; r < b.count; ++r) {
    const std::int64_t token = (b.first + r) / task.group, head = (b.first + r) % task.group;
    float* const to = task.d_query + token * task.query_stride + head * task.width;
    for (std::int64_t d = 0; d < task.width; d += kLanes) {
      store_masked(to + d, load(b.d_query + r * b.stride + d), lanes_left(task.width, d));
    }
  }
}

// P and dS of one row and the sixteen keys of a page; keys [hidden, seen) count.
enum class Cap : std::uint8_t { none, soft };
template <Cap cap_kind>
MAXPLUS_LANE void page_gradient(float* probability, float* d_score, int hidden, int seen, float lse, float delta,
                                float scale, float cap) {
  const Lanes zero = broadcast(0.0f), factor = broadcast(scale);
  Lanes score = load(probability) * factor, slope = factor;
  if constexpr (cap_kind == Cap::soft) {
    const Lanes t = tanh(score * broadcast(1.0f / cap));
    score = t * broadcast(cap);
    slope = fma(t * broadcast(-1.0f), t, broadcast(1.0f)) * factor;
  }
  Lanes p = exp(score - broadcast(lse));
  Lanes d = p * (load(d_score) - broadcast(delta)) * slope;
  if (seen < kLanes) {
    p = select(seen, p, zero);
    d = select(seen, d, zero);
  }
  if (hidden > 0) {
    p = select(hidden, zero, p);
    d = select(hidden, zero, d);
  }
  store(probability, p);
  store(d_score, d);
}

int within_page(std::int64_t key) { return key < 0 ? 0 : key > kLanes ? kLanes : static_cast<int>(key); }

// P and dS of rows [row, row + count) against a block of keys.
template <Cap cap_kind>
void score_gradients(const AttentionBackward& task, Rows& b, std::int64_t first_key, std::int64_t row, int count) {
  float* const probability = b.probability + row * kAttentionKeyBlock;
  float* const d_score = b.d_score + row * kAttentionKeyBlock;
  for (std::int64_t k = 0; k < kAttentionKeyBlock; k += kLanes) {
    if (b.limit[row + count - 1] <= first_key + k || b.low[row] >= first_key + k + kLanes) {
      for (int r = 0; r < count; ++r) {
        store(probability + r * kAttentionKeyBlock + k, broadcast(0.0f));
        store(d_score + r * kAttentionKeyBlock + k, broadcast(0.0f));
      }
      continue;
    }
    const std::int64_t page = (first_key + k) * task.width;
    tile_product_rows(count, b.query + row * b.stride, b.stride, 1, task.path.key_lanes + page, kLanes, probability + k,
                      kAttentionKeyBlock, task.width, Chain::from_zero);
    tile_product_rows(count, b.d_out + row * b.stride, b.stride, 1, task.path.value_lanes + page, kLanes, d_score + k,
                      kAttentionKeyBlock, task.width, Chain::from_zero);
    for (int r = 0; r < count; ++r) {
      page_gradient<cap_kind>(probability + r * kAttentionKeyBlock + k, d_score + r * kAttentionKeyBlock + k,
                              within_page(b.low[row + r] - first_key - k),
                              within_page(b.limit[row + r] - first_key - k), b.lse[row + r], b.delta[row + r],
                              task.scale, task.cap);
    }
  }
}

// Of a block's 64 keys the first that row `first` sees, and the end of those that row `last` sees.
struct KeyRange {
  std::int64_t begin, end;
};
KeyRange keys_seen(const Rows& b, std::int64_t first_key, std::int64_t first, std::int64_t last) {
  const std::int64_t begin = b.low[first] - first_key, end = b.limit[last] - first_key;
  return {begin > 0 ? begin : 0, end < kAttentionKeyBlock ? end : kAttentionKeyBlock};
}

// d_query of rows [row, row + count): their chains go on over the keys of the block that any of them sees.
void query_gradients(const AttentionBackward& task, Rows& b, std::int64_t first_key, std::int64_t row, int count) {
  const KeyRange keys = keys_seen(b, first_key, row, row + count - 1);
  for (std::int64_t d = 0; d < b.stride; d += kLanes) {
    tile_product_rows(count, b.d_score + row * kAttentionKeyBlock + keys.begin, kAttentionKeyBlock, 1,
                      task.path.key + (first_key + keys.begin) * b.stride + d, b.stride, b.d_query + row * b.stride + d,
                      b.stride, keys.end - keys.begin, Chain::go_on);
  }
}

// d_key and d_value of the block: their chains go on over rows [row, last), those that see any of it.
void key_gradients(const AttentionBackward& task, const Rows& b, std::int64_t first_key, std::int64_t row,
                   std::int64_t last) {
  const KeyRange keys = keys_seen(b, first_key, row, last - 1);
  for (std::int64_t k = keys.begin; k < keys.end; k += kTileRows) {
    const int count = keys.end - k < kTileRows ? static_cast<int>(keys.end - k) : kTileRows;
    while (b.limit[row] <= first_key + k) ++row;  // the last row sees behind them all
    std::int64_t end = last;
    while (b.low[end - 1] >= first_key + k + count) --end;
    const std::int64_t rows = end - row, at = (first_key + k) * b.stride;
    for (std::int64_t d = 0; d < b.stride; d += kLanes) {
      tile_product_rows(count, b.probability + row * kAttentionKeyBlock + k, 1, kAttentionKeyBlock,
                        b.d_out + row * b.stride + d, b.stride, task.path.d_value + at + d, b.stride, rows,
                        Chain::go_on);
      tile_product_rows(count, b.d_score + row * kAttentionKeyBlock + k, 1, kAttentionKeyBlock,
                        b.query + row * b.stride + d, b.stride, task.path.d_key + at + d, b.stride, rows, Chain::go_on);
    }
  }
}

void backward(const AttentionBackward& task) {
  Rows b = place(task);
  const std::int64_t total = task.tokens * task.group;
  for (; b.first < total; b.first += kAttentionRows) {
    b.count = total - b.first < kAttentionRows ? total - b.first : kAttentionRows;
    take(task, b);
    std::int64_t first_key = b.low[0] / kAttentionKeyBlock * kAttentionKeyBlock;
    for (; first_key < b.limit[b.count - 1]; first_key += kAttentionKeyBlock) {
      std::int64_t first_row = 0, last_row = b.count;
      while (b.limit[first_row] <= first_key) ++first_row;
      while (b.low[last_row - 1] >= first_key + kAttentionKeyBlock) --last_row;
      for (std::int64_t row = first_row; row < last_row; row += kTileRows) {
        const int count = last_row - row < kTileRows ? static_cast<int>(last_row - row) : kTileRows;
        if (task.cap > 0) {
          score_gradients<Cap::soft>(task, b, first_key, row, count);
        } else {
          score_gradients<Cap::none>(task, b, first_key, row, count);
        }
        query_gradients(task, b, first_key, row, count);
      }
      key_gradients(task, b, first_key, first_row, last_row);
    }
    put(task, b);
  }
}

void gather(const AttentionPath& path, const float* key, const float* value, std::int64_t stride, std::int64_t first,
            std::int64_t count, std::int64_t width) {
  const std::int64_t padded = attention_padded_width(width);
  for (std::int64_t i = 0; i < count; ++i, key += stride, value += stride) {
    const std::int64_t position = first + i;
    const std::int64_t lane = position / kLanes * kLanes * width + position % kLanes;
    for (std::int64_t d = 0; d < width; ++d) {
      path.key_lanes[lane + d * kLanes] = key[d];
      path.value_lanes[lane + d * kLanes] = value[d];
      path.key[position * padded + d] = key[d];
    }
    for (std::int64_t d = width; d < padded; ++d) path.key[position * padded + d] = 0.0f;
  }
}

constexpr AttentionBackwardTable kTable = {backward, gather};

}  // namespace

const AttentionBackwardTable& attention_backward_table() { return kTable; }

}  // namespace maxplus::host::MAXPLUS_SIMD
