#pragma once
// A decoder-only transformer: forward, backward and decoding over one code path.
//
// Notation: T tokens of a packed batch, C width, H query and G key heads of width D, F feed-forward width, V
// vocabulary. The forward over a batch (training, scoring, prefill or one decoding step) differs only in where keys and
// values stand: in pages of a KvCache, or in temporary pages of the batch itself. Both use the same kernels in the same
// order, so a token's log-probability has the same bits in all of them (src/README.md, "on policy").

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "device/stream.hpp"
#include "model/kv_cache.hpp"
#include "model/layer_supply.hpp"
#include "model/model_config.hpp"
#include "ops/matmul.hpp"
#include "parallel/parameter.hpp"
#include "tensor/arena.hpp"
#include "tensor/token_batch.hpp"

namespace maxplus {

// Which rows of the last hidden state are asked for which token. A prompt's last row has one target a child.
struct HeadTargets {
  std::vector<std::int32_t> row;     // into the batch, ascending
  std::vector<std::int32_t> target;  // token ids
};

// Limits that size the buffers.
struct TransformerLimits {
  std::int64_t batch_tokens = 0;    // tokens of a packed batch, forward and backward
  std::int64_t batch_segments = 0;  // segments of a packed batch
  std::int64_t extend_tokens = 0;   // tokens of one `extend` (decoding rows, or a prefill)
  std::int64_t extend_rows = 0;     // rows whose logits one `extend` returns
  std::int64_t head_block = 64;     // rows of logits held at once in scoring and training
};

// Weights in one block, gradients in one block of the same layout; Parameters are views into both.
class WeightSet {
 public:
  // Takes elements() f32 from the arena. `gradient` of Parameters stays empty until bind_gradients.
  WeightSet(const ModelConfig& config, Arena& weights);
  const ModelConfig& config() const { return config_; }
  std::span<Parameter> parameters() { return parameters_; }
  std::span<const Parameter> parameters() const { return parameters_; }
  TensorView all() const { return all_; }  // [elements], in the order of parameters()
  std::int64_t elements() const { return all_.size(); }
  const Parameter* find(const std::string& name) const;
  // A tied matrix has two gradients, of the lookup and of the head, which stay two buffers through the tree of slices
  // and are added once at the end: a gradient block has gradient_elements() = elements() (+ V C, at its end, when
  // tied).
  std::int64_t gradient_elements() const;
  void bind_gradients(TensorView gradient);  // [gradient_elements]; a slice's buffer. Cheap, called for every slice
  TensorView gradient() const { return gradient_; }  // the bound block; without data before bind_gradients
  TensorView head_gradient()
      const;  // [V, C] of the bound block: the tail when tied, else lm_head's own, if there is one
  // Once, on the summed block: lookup += head, when tied.
  void fold_tied_gradient(const Stream& stream, TensorView gradient) const;

  // Random start: embeddings N(0, 0.04) [the recipe's], matrices N(0, 1/sqrt(fan-in)), output projections of a block
  // over sqrt(2 L), norms a scale of 1, biases 0. A value head starts at N(0, 1/(C + 1)), so that first values are
  // near 0 and the network behind it learns from the first step (Stiennon et al., 2020, for reward models; critics of
  // OpenRLHF). A function of (seed, name, element).
  void initialise(std::uint64_t seed);
  void initialise_value_head(std::uint64_t seed);  // that matrix alone
  // xxh3-128 of the little-endian f32 weights in byte order of names, a tied matrix once; 32 hex digits.
  std::string hash() const;

 private:
  void initialise_these(std::span<const std::size_t> parameters, std::uint64_t seed);

  ModelConfig config_;
  TensorView all_;
  std::vector<Parameter> parameters_;
  TensorView gradient_;
};

class Transformer {
 public:
  enum class Use { inference, training };

  // All memory comes from the arenas: `packed` (weights packed for products; twice for training), `activations`.
  // With counting arenas this measures the plan. `weights` and `stream` must outlive the transformer. With a supply
  // (inference only) `weights` hold one layer, into which each is brought when its turn comes.
  Transformer(WeightSet& weights, Use use, ops::Arithmetic arithmetic, const TransformerLimits& limits,
              const Stream& stream, Arena& packed, Arena& activations, LayerSupply* supply = nullptr);
  ~Transformer();

  // After the weights have changed, and once before the first use.
  void pack_weights();

  // Forward over a packed batch; keeps what `score` needs, and with Use::training what `backward` needs, until the next
  // forward or extend.
  void forward(const TokenBatch& batch);
  // log_prob[n], entropy[n] of targets.target[n] after row targets.row[n] of the last forward. At most batch_tokens +
  // batch_segments targets.
  void score(const HeadTargets& targets, float inverse_temperature, std::span<float> log_prob,
             std::span<float> entropy);
  // value[n] at row[n] of the last forward, rows ascending; of a network with a value head.
  void values(std::span<const std::int32_t> row, std::span<float> value);
  // Adds the gradient of sum(d_log_prob * log_prob + d_entropy * entropy) of the last score to the bound gradients.
  void backward(std::span<const float> d_log_prob, std::span<const float> d_entropy);
  // Likewise of what both heads said since the last forward, in one pass; they must have been asked for the same rows.
  // A list is empty where no gradient arrives.
  struct TargetGradients {
    std::span<const float> log_prob, entropy, value;
  };
  void backward(const TargetGradients& gradients);

  // Prefill or decoding: appends tokens to sequences of the cache and returns logits of chosen rows.
  struct Extension {
    KvCache::Sequence* sequence;
    std::span<const std::int32_t> tokens;  // appended after what the sequence holds
  };
  // logits [asked, V] of the last token of every extension with at least one token, in order (at most extend_rows of
  // them); valid until the next call of any function. A sequence stands in one extension only.
  // The cache must have room (KvCache::reserve). Sum of tokens <= extend_tokens.
  TensorView extend(KvCache& cache, std::span<const Extension> extensions);

  const ModelConfig& config() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace maxplus
