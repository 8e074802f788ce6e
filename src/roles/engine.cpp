#include "roles/engine.hpp"

#include <utility>

#include <fmt/format.h>

#include "ops/elementwise.hpp"

namespace maxplus {

namespace {

enum ArenaIndex : std::size_t {
  kWeights,
  kSecondWeights,
  kPacked,
  kActivations,
  kGradients,
  kMoments,
  kCache,
  kDrawing,
  kReference,
  kRewardModel,
  kCritic,
  kCriticGradients,
  kCriticMoments,
  kArenas
};
constexpr const char* kArenaNames[kArenas] = {"weights",
                                              "weights that arrive",
                                              "packed weights",
                                              "activations",
                                              "gradients",
                                              "optimizer moments",
                                              "generation (keys, values)",
                                              "copy that draws",
                                              "reference",
                                              "reward model",
                                              "critic",
                                              "critic gradients",
                                              "critic moments"};

constexpr double kMiB = 1024.0 * 1024.0;

}  // namespace

std::int64_t MemoryPlan::total() const {
  std::int64_t sum = 0;
  for (const Line& line : lines) sum += line.bytes;
  return sum;
}

std::string MemoryPlan::table() const {
  std::string text = "memory a rank, MiB:\n";
  for (const Line& line : lines) {
    if (line.bytes == 0) continue;
    text += fmt::format("  {:<28} {:>12.2f}\n", line.name, static_cast<double>(line.bytes) / kMiB);
  }
  return text + fmt::format("  {:<28} {:>12.2f}\n", "sum", static_cast<double>(total()) / kMiB);
}

Engine::Arenas Engine::counting_arenas() {
  Arenas arenas;
  for (const char* name : kArenaNames) arenas.arena.push_back(std::make_unique<Arena>(name));
  return arenas;
}

Engine::Arenas Engine::real_arenas(const MemoryPlan& plan) {
  Arenas arenas;
  for (const MemoryPlan::Line& line : plan.lines) {
    arenas.arena.push_back(std::make_unique<Arena>(line.name, static_cast<std::size_t>(line.bytes), Space::host));
  }
  return arenas;
}

namespace {

// Of networks that draw nothing.
TransformerLimits without_drawing(TransformerLimits limits) {
  limits.extend_tokens = limits.extend_rows = 0;
  return limits;
}

TransformerLimits drawing_alone(TransformerLimits limits) {
  limits.batch_tokens = limits.batch_segments = 0;
  return limits;
}

// A rank that only draws has no use for weights packed otherwise.
bool draws_from_copy(const EngineShape& shape) {
  return shape.generation && shape.optimizer && shape.drawing && *shape.drawing != shape.arithmetic;
}

}  // namespace

Engine::Frozen::Frozen(const EngineShape::FrozenNetwork& frozen, const EngineShape& shape, const Stream& stream,
                       Arena& arena)
    : plain(frozen.weights == StoredType::f32 ? std::make_optional<WeightSet>(frozen.model, arena) : std::nullopt),
      kept(plain ? std::nullopt : std::make_optional<FrozenWeights>(frozen.model, frozen.weights, arena)),
      network(plain ? *plain : kept->window(), Transformer::Use::inference, shape.arithmetic,
              without_drawing(shape.limits), stream, arena, arena, kept ? &*kept : nullptr) {}

double Engine::load(Frozen& frozen, std::shared_ptr<const WeightSource> source) {
  const std::string where = source->where();
  if (frozen.plain) {
    load_weights(std::move(source), *frozen.plain);
  } else {
    frozen.kept->load(stream_, std::move(source));
  }
  if (frozen.plain && ops::count_not_finite(stream_, frozen.plain->all()) > 0) refuse_not_finite(where);
  frozen.network.pack_weights();
  return frozen.kept ? frozen.kept->relative_error() : 0.0;
}

Engine::Parts::Parts(const EngineShape& shape, const Stream& stream, Arenas& arenas, int data_rank, int data_ranks) {
  MAXPLUS_REQUIRE(shape.has_policy || (!shape.optimizer && !shape.generation), "the policy draws and is trained");
  if (shape.has_policy) {
    weights.emplace(shape.model, *arenas.arena[kWeights]);
    if (shape.second_weights) second_weights.emplace(shape.model, *arenas.arena[kSecondWeights]);
    policy.emplace(*weights, shape.optimizer ? Transformer::Use::training : Transformer::Use::inference,
                   shape.optimizer ? shape.arithmetic : shape.drawing.value_or(shape.arithmetic),
                   draws_from_copy(shape) ? without_drawing(shape.limits) : shape.limits, stream,
                   *arenas.arena[kPacked], *arenas.arena[kActivations]);
  }
  if (draws_from_copy(shape)) {
    Arena& arena = *arenas.arena[kDrawing];
    drawing.emplace(*weights, Transformer::Use::inference, *shape.drawing, drawing_alone(shape.limits), stream, arena,
                    arena);
  }
  if (shape.optimizer) {
    trainer.emplace(*policy, *weights, *shape.optimizer, stream, *arenas.arena[kGradients], *arenas.arena[kMoments],
                    data_rank, data_ranks);
  }
  if (shape.generation)
    generator.emplace(drawing ? *drawing : *policy, *shape.generation, stream, *arenas.arena[kCache]);
  if (shape.reference) reference.emplace(*shape.reference, shape, stream, *arenas.arena[kReference]);
  if (shape.reward_model) reward_model.emplace(*shape.reward_model, shape, stream, *arenas.arena[kRewardModel]);
  if (shape.critic) {
    Arena& arena = *arenas.arena[kCritic];
    const DataPlace place = shape.critic->place.value_or(DataPlace{data_rank, data_ranks});
    critic_weights.emplace(shape.critic->model, arena);
    critic.emplace(*critic_weights, Transformer::Use::training, shape.arithmetic, without_drawing(shape.limits), stream,
                   arena, arena);
    critic_trainer.emplace(*critic, *critic_weights, shape.critic->optimizer, stream, *arenas.arena[kCriticGradients],
                           *arenas.arena[kCriticMoments], place.rank, place.ranks);
  }
}

MemoryPlan Engine::measure(const EngineShape& shape, const Stream& stream, int data_rank, int data_ranks) {
  Arenas arenas = counting_arenas();
  const Parts parts(shape, stream, arenas, data_rank, data_ranks);
  MemoryPlan plan;
  for (const auto& arena : arenas.arena)
    plan.lines.push_back({arena->name(), static_cast<std::int64_t>(arena->peak())});
  return plan;
}

MemoryPlan Engine::plan(const EngineShape& shape, int data_rank, int data_ranks) {
  const Stream stream(shape.threads, Stream::Waiting::sleep);
  return measure(shape, stream, data_rank, data_ranks);
}

Engine::Engine(const EngineShape& shape, int data_rank, int data_ranks, Stream::Waiting waiting)
    : shape_(shape),
      stream_(shape.threads, waiting),
      plan_(measure(shape_, stream_, data_rank, data_ranks)),
      arenas_(real_arenas(plan_)),
      parts_(std::make_unique<Parts>(shape_, stream_, arenas_, data_rank, data_ranks)) {
  for (std::size_t i = 0; i < plan_.lines.size(); ++i) {
    MAXPLUS_REQUIRE(static_cast<std::int64_t>(arenas_.arena[i]->peak()) == plan_.lines[i].bytes,
                    fmt::format("arena '{}' holds {} bytes, its plan says {}", plan_.lines[i].name,
                                arenas_.arena[i]->peak(), plan_.lines[i].bytes));
  }
}

Engine::~Engine() = default;

Transformer* Engine::critic() {
  if (parts_->critic) return &*parts_->critic;
  return shape_.model.value_head && parts_->policy ? &*parts_->policy : nullptr;
}

std::int64_t Engine::arena_bytes() const {
  std::int64_t sum = 0;
  for (const auto& arena : arenas_.arena) sum += static_cast<std::int64_t>(arena->capacity());
  return sum;
}

}  // namespace maxplus
