#pragma once
// Weights of a network that never learns, its layers' matrices kept in fewer bits and brought back one layer at a time.
//
// Embedding, heads, norms and biases stay f32. A forward over many tokens hardly notices: bringing a layer costs about
// as much as packing it.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "device/stream.hpp"
#include "model/layer_supply.hpp"
#include "model/transformer.hpp"
#include "model/weight_source.hpp"
#include "tensor/arena.hpp"

namespace maxplus {

enum class StoredType : std::uint8_t { f32, bf16, q8 };  // 32, 16 and 9 bits a weight (ops/quantized.hpp)

class FrozenWeights final : public LayerSupply {
 public:
  // Takes its memory from the arena, which may be a counting one.
  FrozenWeights(const ModelConfig& config, StoredType type, Arena& arena);

  // Strict as load_weights; one tensor at a time.
  void load(const Stream& stream, std::shared_ptr<const WeightSource> source);
  // sqrt(sum of squared changes / sum of squares) over the matrices of layers that load() stored.
  double relative_error() const;

  // What a Transformer is built on, with this as its supply: everything outside of layers, and room for one layer.
  WeightSet& window() { return window_; }
  const ModelConfig& config() const override { return config_; }
  void bring(const Stream& stream, std::int64_t layer) override;

 private:
  // A weight of a layer: where it stands in the window, and where in the store of its kind.
  struct Part {
    TensorView window;
    bool matrix = false;
    std::int64_t first = 0, count = 0;  // within a layer's share of the store; first is a multiple of a block
  };
  TensorView values_of(const Part& part, std::int64_t layer) const;
  TensorView scale_of(const Part& part, std::int64_t layer) const;
  void keep(const Stream& stream, const Part& part, std::int64_t layer);

  ModelConfig config_;
  StoredType type_;
  WeightSet window_;
  std::vector<Part> parts_;                              // of a layer, in storage order
  std::int64_t layer_matrices_ = 0, layer_vectors_ = 0;  // elements, blocks filled up
  TensorView matrices_, scales_, vectors_, check_;
  double change_ = 0, squares_ = 0;
};

}  // namespace maxplus
