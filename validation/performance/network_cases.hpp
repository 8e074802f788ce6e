#pragma once
// Whole-network work that is measured: decoding, scoring and training through the classes of the program, each with the
// arithmetic and the bytes it cannot avoid (model/flops.hpp), from which the limit follows.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "ops/matmul.hpp"
#include "probe.hpp"
#include "roles/engine.hpp"

namespace maxplus::performance {

using Tokens = std::vector<std::int32_t>;

// A second, of all ranks together.
struct Limits {
  double flops = 0, bytes = 0;
};

// Of all ranks together.
struct Work {
  double tokens = 0, flops = 0, bytes = 0;
  enum class Bound { larger, sum } bound = Bound::larger;  // arithmetic beside reading, or one after the other

  double least_seconds(const Limits& limits) const {
    const double arithmetic = flops / limits.flops, reading = bytes / limits.bytes;
    return bound == Bound::larger ? std::max(arithmetic, reading) : arithmetic + reading;
  }
};

struct Seconds {
  double counted = 0;
  double prefill = 0;  // of a decoding case: before what is counted
};

// Of one rank; several ranks do as much each.
struct Case {
  std::string name;
  Work work, prefill;
  std::function<Seconds()> run;
};

struct Setting {
  ModelConfig model;
  ops::Arithmetic arithmetic = ops::Arithmetic::f32;
  int threads = 1;
  std::int64_t slices = 1;  // of gradients
  std::int64_t prompt_tokens = 128, new_tokens = 64, decoding_rows = 32;
  std::int64_t micro_batch_tokens = 1024, batch_tokens = 2048;
};

ModelConfig smollm2_135m();
EngineShape bench_shape(const Setting& setting);
Tokens some_tokens(std::int64_t count, std::uint64_t seed);
// Bytes of a weight as products read it.
double weight_bytes(ops::Arithmetic arithmetic);

enum class Drawing { sampled, greedy };

// The steps of decoding after the first one, which shares a turn with the prefill.
Case decoding_case(Engine& engine, std::vector<Tokens> prompts, std::int64_t new_tokens, Drawing drawing, double ranks,
                   Clock clock);
Case prefill_case(Engine& engine, Tokens prompt, double ranks, Clock clock);
Case scoring_case(Engine& engine, std::vector<Tokens> sequences, std::int64_t batch_tokens, double ranks, Clock clock);
// One optimizer step over a rank's `sequences`, times the ranks; all tokens but a sequence's first are trained on.
Case training_case(Engine& engine, const std::vector<Tokens>& sequences, const Communicator& world, Clock clock);

}  // namespace maxplus::performance
