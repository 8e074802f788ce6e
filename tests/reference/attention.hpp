#pragma once
// Causal attention over a trie of segments and its gradient, as plain double loops: softmax over the whole path, or its
// last keys (a window), at once, no blocks, no pages (ops/attention.hpp). T tokens, H query heads, G key/value heads, D
// head width.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace maxplus::reference {

struct AttentionShape {
  std::size_t heads, kv_heads, width;
  double scale;
  double cap = 0;          // of scores; 0: none
  std::size_t window = 0;  // keys that a query sees; 0: all before it
  std::size_t row() const { return (heads + 2 * kv_heads) * width; }
  std::size_t query(std::size_t t, std::size_t h) const { return t * row() + h * width; }
  std::size_t key(std::size_t t, std::size_t h) const { return t * row() + (heads + h * kv_heads / heads) * width; }
  std::size_t value(std::size_t t, std::size_t h) const { return key(t, h) + kv_heads * width; }
};

struct AttentionSegment {
  std::size_t first_row, count;
  int parent;
};

// Rows of the keys that the token at `offset` of a segment sees, by position: ancestors first, itself last.
inline std::vector<std::size_t> visible_rows(const std::vector<AttentionSegment>& segments, std::size_t segment,
                                             std::size_t offset) {
  std::vector<std::size_t> rows;
  const AttentionSegment& own = segments[segment];
  if (own.parent >= 0) {
    const auto parent = static_cast<std::size_t>(own.parent);
    rows = visible_rows(segments, parent, segments[parent].count - 1);
  }
  for (std::size_t i = 0; own.count > 0 && i <= offset && offset < own.count; ++i) rows.push_back(own.first_row + i);
  return rows;
}

// Those of them that are inside the window.
inline std::vector<std::size_t> seen_rows(const AttentionShape& shape, const std::vector<AttentionSegment>& segments,
                                          std::size_t segment, std::size_t offset) {
  std::vector<std::size_t> rows = visible_rows(segments, segment, offset);
  if (shape.window > 0 && rows.size() > shape.window) {
    rows.erase(rows.begin(), rows.end() - static_cast<std::ptrdiff_t>(shape.window));
  }
  return rows;
}

// scale * (query . key), under the soft cap.
inline double attention_score(const AttentionShape& shape, const std::vector<double>& qkv, std::size_t t,
                              std::size_t key_row, std::size_t h) {
  double score = 0;
  for (std::size_t d = 0; d < shape.width; ++d) score += qkv[shape.query(t, h) + d] * qkv[shape.key(key_row, h) + d];
  score *= shape.scale;
  return shape.cap > 0 ? shape.cap * std::tanh(score / shape.cap) : score;
}

struct Attention {
  std::vector<double> out;  // [T, H D]
  std::vector<double> lse;  // [T, H]
};

inline std::vector<double> attention_weights(const AttentionShape& shape, const std::vector<double>& qkv,
                                             const std::vector<std::size_t>& rows, std::size_t t, std::size_t h,
                                             double& lse) {
  std::vector<double> weight(rows.size());
  double maximum = -INFINITY, sum = 0;
  for (std::size_t j = 0; j < rows.size(); ++j) {
    weight[j] = attention_score(shape, qkv, t, rows[j], h);
    maximum = std::fmax(maximum, weight[j]);
  }
  for (double& w : weight) sum += w = std::exp(w - maximum);
  for (double& w : weight) w /= sum;
  lse = maximum + std::log(sum);
  return weight;
}

inline Attention attention(const AttentionShape& shape, const std::vector<double>& qkv,
                           const std::vector<AttentionSegment>& segments) {
  const std::size_t tokens = qkv.size() / shape.row();
  Attention result{std::vector<double>(tokens * shape.heads * shape.width), std::vector<double>(tokens * shape.heads)};
  for (std::size_t s = 0; s < segments.size(); ++s) {
    for (std::size_t i = 0; i < segments[s].count; ++i) {
      const std::vector<std::size_t> rows = seen_rows(shape, segments, s, i);
      const std::size_t t = segments[s].first_row + i;
      for (std::size_t h = 0; h < shape.heads; ++h) {
        const std::vector<double> weight = attention_weights(shape, qkv, rows, t, h, result.lse[t * shape.heads + h]);
        for (std::size_t j = 0; j < rows.size(); ++j) {
          for (std::size_t d = 0; d < shape.width; ++d) {
            result.out[(t * shape.heads + h) * shape.width + d] += weight[j] * qkv[shape.value(rows[j], h) + d];
          }
        }
      }
    }
  }
  return result;
}

// d_qkv of sum(d_out * out), through dP = d_out . v, dS = P (dP - sum P dP).
inline std::vector<double> attention_backward(const AttentionShape& shape, const std::vector<double>& qkv,
                                              const std::vector<double>& d_out,
                                              const std::vector<AttentionSegment>& segments) {
  std::vector<double> d_qkv(qkv.size());
  for (std::size_t s = 0; s < segments.size(); ++s) {
    for (std::size_t i = 0; i < segments[s].count; ++i) {
      const std::vector<std::size_t> rows = seen_rows(shape, segments, s, i);
      const std::size_t t = segments[s].first_row + i;
      for (std::size_t h = 0; h < shape.heads; ++h) {
        double lse = 0, delta = 0;
        const std::vector<double> weight = attention_weights(shape, qkv, rows, t, h, lse);
        const double* d = &d_out[(t * shape.heads + h) * shape.width];
        std::vector<double> d_weight(rows.size());
        for (std::size_t j = 0; j < rows.size(); ++j) {
          for (std::size_t c = 0; c < shape.width; ++c) d_weight[j] += d[c] * qkv[shape.value(rows[j], h) + c];
          delta += weight[j] * d_weight[j];
        }
        for (std::size_t j = 0; j < rows.size(); ++j) {
          double d_score = weight[j] * (d_weight[j] - delta) * shape.scale;
          if (shape.cap > 0) {
            const double t_cap = attention_score(shape, qkv, t, rows[j], h) / shape.cap;
            d_score *= 1 - t_cap * t_cap;
          }
          for (std::size_t c = 0; c < shape.width; ++c) {
            d_qkv[shape.query(t, h) + c] += d_score * qkv[shape.key(rows[j], h) + c];
            d_qkv[shape.key(rows[j], h) + c] += d_score * qkv[shape.query(t, h) + c];
            d_qkv[shape.value(rows[j], h) + c] += weight[j] * d[c];
          }
        }
      }
    }
  }
  return d_qkv;
}

}  // namespace maxplus::reference
