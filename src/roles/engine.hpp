#pragma once
// The roles of one rank and their memory: weights, packed copies, gradients, moments, activations, cache.
//
// The engine is built twice by the same code: on counting arenas, which gives the memory plan before anything is
// allocated, and on real ones of exactly those sizes.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "deck/tables.hpp"
#include "device/stream.hpp"
#include "model/frozen_weights.hpp"
#include "model/transformer.hpp"
#include "optim/adamw.hpp"
#include "parallel/gradient_sync.hpp"
#include "roles/critic_trainer.hpp"
#include "roles/generator.hpp"
#include "roles/trainer.hpp"
#include "tensor/arena.hpp"

namespace maxplus {

// A rank among those that train a network together.
struct DataPlace {
  int rank = 0, ranks = 1;
};

// What decides the sizes of everything.
struct EngineShape {
  ModelConfig model;
  bool has_policy = true;  // false: of a rank that only has networks beside it
  ops::Arithmetic arithmetic = ops::Arithmetic::f32;
  std::optional<ops::Arithmetic> drawing;  // of the generator; absent: as all else
  TransformerLimits limits;
  std::optional<Generator::Limits> generation;  // absent: nothing is drawn
  std::optional<OptimizerTable> optimizer;      // absent: nothing is trained
  bool second_weights = false;                  // room for the next version, which comes while this rank draws
  struct Critic {
    ModelConfig model;
    OptimizerTable optimizer;
    std::optional<DataPlace> place = {};  // absent: the policy's
  };
  std::optional<Critic> critic;  // with a network of its own; one that shares the policy's is model.value_head
  struct FrozenNetwork {
    ModelConfig model;
    StoredType weights = StoredType::f32;  // how they are kept
  };
  std::optional<FrozenNetwork> reference, reward_model;
  int threads = 1;
};

struct MemoryPlan {
  struct Line {
    std::string name;
    std::int64_t bytes;
  };
  std::vector<Line> lines;
  std::int64_t total() const;
  std::string table() const;  // for people
};

class Engine {
 public:
  static MemoryPlan plan(const EngineShape& shape, int data_rank, int data_ranks);

  Engine(const EngineShape& shape, int data_rank, int data_ranks, Stream::Waiting waiting);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  const EngineShape& shape() const { return shape_; }
  const MemoryPlan& memory_plan() const { return plan_; }
  // Bytes that the arenas hold, which the plan equals exactly.
  std::int64_t arena_bytes() const;

  Stream& stream() { return stream_; }
  // Of a rank that has the policy.
  WeightSet& weights() { return *parts_->weights; }
  WeightSet* second_weights() { return parts_->second_weights ? &*parts_->second_weights : nullptr; }
  Transformer& policy() { return *parts_->policy; }
  Generator& generator() { return *parts_->generator; }
  // What draws in an arithmetic of its own, after the weights have changed; nothing where all use one.
  void pack_drawing_copy() {
    if (parts_->drawing) parts_->drawing->pack_weights();
  }
  Trainer& trainer() { return *parts_->trainer; }
  bool trains() const { return parts_->trainer.has_value(); }
  // Of one that is kept in f32.
  WeightSet* reference_weights() {
    return parts_->reference && parts_->reference->plain ? &*parts_->reference->plain : nullptr;
  }
  // What gives values: a network of its own, or the policy's where it has a value head; null: nothing does.
  Transformer* critic();
  // Of a network of its own.
  WeightSet* critic_weights() { return parts_->critic_weights ? &*parts_->critic_weights : nullptr; }
  CriticTrainer* critic_trainer() { return parts_->critic_trainer ? &*parts_->critic_trainer : nullptr; }
  Transformer* reference() { return parts_->reference ? &parts_->reference->network : nullptr; }
  // Strict as load_weights. Returns FrozenWeights::relative_error(), 0 where weights are kept in f32.
  double load_reference(std::shared_ptr<const WeightSource> source) { return load(*parts_->reference, source); }
  double load_reward_model(std::shared_ptr<const WeightSource> source) { return load(*parts_->reward_model, source); }
  Transformer* reward_model() { return parts_->reward_model ? &parts_->reward_model->network : nullptr; }

 private:
  struct Arenas {
    std::vector<std::unique_ptr<Arena>> arena;
  };
  struct Frozen {
    Frozen(const EngineShape::FrozenNetwork& frozen, const EngineShape& shape, const Stream& stream, Arena& arena);
    std::optional<WeightSet> plain;  // one of the two
    std::optional<FrozenWeights> kept;
    Transformer network;
  };
  double load(Frozen& frozen, std::shared_ptr<const WeightSource> source);
  struct Parts {
    Parts(const EngineShape& shape, const Stream& stream, Arenas& arenas, int data_rank, int data_ranks);
    std::optional<WeightSet> weights, second_weights;
    std::optional<Transformer> policy;
    std::optional<Transformer> drawing;  // of the same weights
    std::optional<Trainer> trainer;
    std::optional<Generator> generator;
    std::optional<Frozen> reference, reward_model;
    std::optional<WeightSet> critic_weights;
    std::optional<Transformer> critic;
    std::optional<CriticTrainer> critic_trainer;
  };
  static Arenas counting_arenas();
  static Arenas real_arenas(const MemoryPlan& plan);
  static MemoryPlan measure(const EngineShape& shape, const Stream& stream, int data_rank, int data_ranks);

  EngineShape shape_;
  Stream stream_;
  MemoryPlan plan_;
  Arenas arenas_;
  std::unique_ptr<Parts> parts_;
};

}  // namespace maxplus
