#pragma once
// A network on exactly measured, poisoned memory, and the golden models, for the tests of this folder.

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/random.hpp"
#include "io/safetensors.hpp"
#include "model/families/family.hpp"
#include "model/hf_folder.hpp"
#include "model/transformer.hpp"
#include "ops/elementwise.hpp"

namespace maxplus {

inline std::filesystem::path golden_model(const std::string& name) {
  return std::filesystem::path(MAXPLUS_TEST_DATA) / "models" / name;
}

// Fills what an arena will hand out with NaN: whatever is read before it is written shows.
inline void poison(Arena& arena, const Stream& stream) {
  const ArenaScope scope(arena);
  const auto places = static_cast<std::int64_t>((arena.capacity() - arena.used()) / sizeof(float));
  ops::fill(stream, arena.take(DType::f32, {places}), std::numeric_limits<float>::quiet_NaN());
}

struct ModelSetup {
  TransformerLimits limits;
  Transformer::Use use = Transformer::Use::training;
  ops::Arithmetic arithmetic = ops::Arithmetic::f32;
  int threads = 1;
};

// Bytes that counting arenas measure.
struct MeasuredBytes {
  std::size_t weights, packed, activations;
};
inline MeasuredBytes measure(const ModelConfig& config, const ModelSetup& setup, const Stream& stream) {
  Arena weights("weights"), packed("packed"), activations("activations");
  WeightSet set(config, weights);
  const Transformer network(set, setup.use, setup.arithmetic, setup.limits, stream, packed, activations);
  return {weights.peak(), packed.peak(), activations.peak()};
}

class TestModel {
 public:
  TestModel(const ModelConfig& config, const ModelSetup& setup)
      : stream(setup.threads, Stream::Waiting::sleep),
        bytes(measure(config, setup, stream)),
        weight_arena("weights", bytes.weights, Space::host),
        packed("packed", bytes.packed, Space::host),
        activations("activations", bytes.activations, Space::host),
        weights(config, weight_arena),
        gradient_arena("gradients",
                       static_cast<std::size_t>(weights.gradient_elements()) * sizeof(float) + Arena::kAlignment,
                       Space::host),
        gradient(gradient_arena.take(DType::f32, {weights.gradient_elements()})) {
    poison(packed, stream);
    poison(activations, stream);
    network =
        std::make_unique<Transformer>(weights, setup.use, setup.arithmetic, setup.limits, stream, packed, activations);
    weights.bind_gradients(gradient);
    clear_gradient();
  }

  void load(const std::filesystem::path& folder) {
    load_hf_weights(folder, weights);
    network->pack_weights();
  }
  void initialise(std::uint64_t seed) {
    weights.initialise(seed);
    network->pack_weights();
  }
  // Biases and norms too start from random values, so that each of them matters.
  void initialise_everything(std::uint64_t seed) {
    weights.initialise(seed);
    std::uint64_t i = 0;
    for (const Parameter& parameter : weights.parameters()) {
      for (float& value : parameter.weight.span<float>())
        if (!parameter.decayed) value += 0.6f * uniform(seed, Purpose::test, i++, 0) - 0.3f;
    }
    network->pack_weights();
  }
  void clear_gradient() { ops::fill(stream, gradient, 0.0f); }

  Stream stream;
  MeasuredBytes bytes;
  Arena weight_arena, packed, activations;
  WeightSet weights;
  Arena gradient_arena;
  TensorView gradient;
  std::unique_ptr<Transformer> network;
};

// One of the sequences of reference.safetensors.
struct GoldenSequence {
  std::vector<std::int32_t> tokens;
  std::vector<float> weight, logits, log_prob, entropy;
};
inline GoldenSequence golden_sequence(const SafetensorsFile& file, int i) {
  const auto floats = [&](const std::string& key) {
    const SafetensorsEntry* entry = file.find(key + "." + std::to_string(i));
    std::vector<float> values(static_cast<std::size_t>(entry->elements()));
    file.read_f32(*entry, values);
    return values;
  };
  GoldenSequence sequence;
  const SafetensorsEntry* tokens = file.find("tokens." + std::to_string(i));
  sequence.tokens.resize(static_cast<std::size_t>(tokens->elements()));
  std::memcpy(sequence.tokens.data(), tokens->data.data(), tokens->data.size());
  sequence.weight = floats("w");
  sequence.logits = floats("logits");
  sequence.log_prob = floats("logprob");
  sequence.entropy = floats("entropy");
  return sequence;
}

// A small network with odd extents.
inline ModelConfig odd_config(bool tied) {
  ModelConfig config;
  config.vocabulary = 37;
  config.width = 18;
  config.layers = 2;
  config.heads = 6;
  config.kv_heads = 3;
  config.head_width = 10;
  config.ffn_width = 29;
  config.context = 128;
  config.tie_embeddings = tied;
  return config;
}

// The same with the parts of a family: windows shorter than the tests' sequences, caps that bend.
inline ModelConfig odd_config_of(const std::string& name) {
  const Family& family = find_family(name, "test");
  ModelConfig config = odd_config(family.file_defaults.tie_embeddings);
  config.family = name;
  config.norm_epsilon = family.defaults.norm_epsilon;
  config.windows = windows_of(family.windows, config.layers, family.defaults.window > 0 ? 21 : 0);
  family.complete(config);
  if (config.block.attention_cap > 0) config.block.attention_cap = 1.5;
  if (config.logit_cap > 0) config.logit_cap = 2.5;
  return config;
}

// Tokens that a test draws: seeded, without a pattern.
inline std::vector<std::int32_t> some_tokens(std::int64_t count, std::uint32_t seed, std::int64_t vocabulary) {
  std::vector<std::int32_t> tokens;
  std::uint32_t state = seed * 2654435761u + 12345u;
  for (std::int64_t i = 0; i < count; ++i) {
    state = state * 1664525u + 1013904223u;
    tokens.push_back(static_cast<std::int32_t>((state >> 8) % static_cast<std::uint32_t>(vocabulary)));
  }
  return tokens;
}

inline bool same_bits(std::span<const float> a, std::span<const float> b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size_bytes()) == 0);
}

}  // namespace maxplus
