// A whole network of 135M parameters (the shape of SmolLM2-135M, random weights, f32) against what this machine can do:
// decoding, prefill, scoring and training through the classes of the program.
//
// The limit is the arithmetic and the bytes that the work cannot avoid (model/flops.hpp) at the peak and the read bandwidth
// that probes find before and after each sample, on the same threads of the same ranks. Of several ranks the slowest
// counts, each has the work of one, and what the sum of gradients costs is not in the limit.
//
//   [mpirun -n RANKS] model_bench [threads] [samples] [decode|prefill|scoring|training]

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "comm/environment.hpp"
#include "device/runtime.hpp"
#include "model/flops.hpp"
#include "probe.hpp"
#include "region_times.hpp"
#include "rl/algorithms/sft.hpp"
#include "roles/engine.hpp"
#include "roles/scorer.hpp"

namespace {

using namespace maxplus;
using namespace maxplus::performance;

ModelConfig smollm2_135m() {
  ModelConfig config;
  config.vocabulary = 49152;
  config.width = 576;
  config.layers = 30;
  config.heads = 9;
  config.kv_heads = 3;
  config.head_width = 64;
  config.ffn_width = 1536;
  config.context = 1024;
  config.tie_embeddings = true;
  config.rotary_theta = 100000.0;
  return config;
}

constexpr std::int64_t kDecodePrompt = 128, kNewTokens = 64, kPrefill = 512, kMostRows = 32;
constexpr std::int64_t kScoringBatch = 2048;
constexpr std::int64_t kTrainingSequences = 4, kTrainingTokens = 256;  // a rank and step

EngineShape engine_shape(int threads, std::int64_t slices) {
  EngineShape shape;
  shape.model = smollm2_135m();
  shape.limits.batch_tokens = kScoringBatch;
  shape.limits.batch_segments = 64;
  shape.limits.head_block = 85;  // what the program chooses for this vocabulary
  Generator::Limits generation;
  generation.rows = kMostRows;
  generation.prompt_tokens = kPrefill;
  generation.new_tokens = kNewTokens;
  generation.prefill_tokens = kMostRows * kDecodePrompt;
  shape.limits.extend_tokens = generation.prefill_tokens;
  shape.limits.extend_rows = Generator::rows_asked(generation);
  shape.generation = generation;
  OptimizerTable optimizer;
  optimizer.micro_batch_tokens = kTrainingSequences * kTrainingTokens;
  optimizer.gradient_slices = slices;
  shape.optimizer = optimizer;
  shape.threads = threads;
  return shape;
}

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

std::vector<std::int32_t> some_tokens(std::int64_t count, std::uint64_t seed) {
  std::vector<std::int32_t> tokens;
  for (std::int64_t i = 0; i < count; ++i) {
    tokens.push_back(static_cast<std::int32_t>(uniform(seed, Purpose::sampling, 0, static_cast<std::uint64_t>(i)) * 49151.0f));
  }
  return tokens;
}

double causal_pairs(double tokens) { return tokens * (tokens + 1) / 2; }

class Bench {
 public:
  Bench(const Communicator& world, int threads, int samples, Stream::Waiting waiting)
      : world_(world),
        samples_(samples),
        clock_(threads == 1 && world.size() == 1 ? Clock::processor : Clock::wall),
        stream_(threads, waiting),
        probe_(stream_) {}

  Clock clock() const { return clock_; }
  double ranks() const { return static_cast<double>(world_.size()); }

  // `run` returns the seconds that count.
  void measure(const std::string& name, const Work& work, const std::function<double()>& run) {
    run();
    std::vector<double> seconds, percent, flops, bytes;
    const double mpi_before = world_.traffic().seconds;
    RegionTimes regions(clock_);
    for (int i = 0; i < samples_; ++i) {
      const Limits before = limits();
      world_.barrier();
      double slowest = run();
      world_.maximum({&slowest, 1});
      const Limits after = limits();
      const Limits both{(before.flops + after.flops) / 2, (before.bytes + after.bytes) / 2};
      seconds.push_back(slowest);
      percent.push_back(100.0 * work.least_seconds(both) / slowest);
      flops.push_back(both.flops * 1e-9);
      bytes.push_back(both.bytes * 1e-9);
    }
    if (world_.rank() != 0) return;
    fmt::print("{:<28} {:9.4f} s {:8.1f} tok/s {:5.1f} % of the limit ({:.1f} to {:.1f}); {:.1f} GFLOP/s, {:.1f} GB/s\n", name,
               median(seconds), work.tokens / median(seconds), median(percent), *std::min_element(percent.begin(), percent.end()),
               *std::max_element(percent.begin(), percent.end()), median(flops), median(bytes));
    print_parts(regions, seconds, world_.traffic().seconds - mpi_before);
    std::fflush(stdout);
  }

 private:
  Limits limits() {
    world_.barrier();
    std::vector<double> arithmetic, reading;
    for (int i = 0; i < 40; ++i) {
      arithmetic.push_back(timed([&] { probe_.multiply_add(); }));
      reading.push_back(timed([&] { probe_.read(); }));
    }
    double rates[2] = {probe_.flops() / median(arithmetic), probe_.bytes() / median(reading)};
    world_.sum(rates);
    return {rates[0], rates[1]};
  }

  template <class F>
  double timed(F&& f) const {
    const double start = now(clock_);
    f();
    return now(clock_) - start;
  }

  // Shares of the time of rank 0. Decoding is timed without its prefill, whose kernels run too: shares are of all kernels.
  void print_parts(const RegionTimes& regions, const std::vector<double>& seconds, double mpi) const {
    double kernels = 0, all = 0;
    for (const double s : regions.seconds()) kernels += s;
    for (const double s : seconds) all += s;
    const double whole = std::max(all, kernels);
    fmt::print("   ");
    for (std::size_t i = 0; i < kPartNames.size(); ++i) {
      if (regions.seconds()[i] > 0) fmt::print(" {} {:.1f} %,", kPartNames[i], 100.0 * regions.seconds()[i] / whole);
    }
    if (world_.size() > 1) fmt::print(" MPI {:.1f} %,", 100.0 * mpi / whole);
    fmt::print(" other {:.1f} %\n", 100.0 * std::max(0.0, whole - kernels - (world_.size() > 1 ? mpi : 0.0)) / whole);
  }

  const Communicator& world_;
  int samples_;
  Clock clock_;
  Stream stream_;
  Probe probe_;
};

struct Prompts {
  std::vector<Problem> problem;
  std::vector<GenerationRequest> request;

  Prompts(std::int64_t count, std::int64_t tokens) : problem(static_cast<std::size_t>(count)) {
    for (std::size_t i = 0; i < problem.size(); ++i) {
      problem[i].id = static_cast<std::int64_t>(i);
      problem[i].prompt = some_tokens(tokens, 100 + i);
      GenerationRequest one;
      one.problem = &problem[i];
      one.group = problem[i].id;
      one.ids.push_back({0, 0, static_cast<std::uint32_t>(i), 0});
      request.push_back(one);
    }
  }
};

GenerationRule forced(std::int64_t tokens) {
  GenerationRule rule;
  rule.max_new_tokens = rule.force_length = tokens;
  return rule;
}

// Steps of decoding after the first one, which shares a turn with the prefill.
void decode(Bench& bench, Engine& engine, std::int64_t rows) {
  const ModelConfig& config = engine.shape().model;
  const double weights = 4.0 * static_cast<double>(body_matrix_count(config) + head_matrix_count(config));
  const double cache = 8.0 * static_cast<double>(config.layers * config.kv_columns());  // bytes of a position
  const std::int64_t steps = kNewTokens - 2;
  const double b = static_cast<double>(rows) * bench.ranks();
  Work work;
  for (std::int64_t step = 0; step < steps; ++step) {
    const double seen = static_cast<double>(kDecodePrompt + 2 + step);
    work.tokens += b;
    work.flops += forward_flops(config, b, b * seen, b);
    work.bytes += bench.ranks() * weights + b * seen * cache;
  }
  const Prompts prompts(rows, kDecodePrompt);
  bench.measure(fmt::format("decode, batch {}", rows), work, [&] {
    int turn = 0;
    double start = 0;
    engine.generator().generate(prompts.request, forced(kNewTokens), [&] {
      if (++turn == 2) start = now(bench.clock());
      return false;
    });
    return now(bench.clock()) - start;
  });
}

void prefill(Bench& bench, Engine& engine) {
  const Prompts prompts(1, kPrefill);
  const double tokens = static_cast<double>(kPrefill);
  Work work;
  work.tokens = tokens * bench.ranks();
  work.flops = bench.ranks() * forward_flops(engine.shape().model, tokens, causal_pairs(tokens), 1);
  bench.measure("prefill of 512 tokens", work, [&] {
    const double start = now(bench.clock());
    engine.generator().generate(prompts.request, forced(1), {});
    return now(bench.clock()) - start;
  });
}

void scoring(Bench& bench, Engine& engine) {
  std::vector<std::vector<std::int32_t>> tokens;
  Work work;
  for (const std::int64_t length : {64, 512, 128, 448, 192, 384, 256, 320, 96, 480, 288, 160, 352, 416}) {
    tokens.push_back(some_tokens(length, 200 + tokens.size()));
    const double n = static_cast<double>(length);
    work.tokens += n * bench.ranks();
    work.flops += bench.ranks() * forward_flops(engine.shape().model, n, causal_pairs(n), n - 1);
  }
  std::vector<SequenceToScore> sequences;
  for (const auto& list : tokens) sequences.push_back({list, 1});
  bench.measure("scoring of 64 to 512 tokens", work, [&] {
    const double start = now(bench.clock());
    score_sequences(engine.policy(), sequences, 1.0f, kScoringBatch, 64);
    return now(bench.clock()) - start;
  });
}

void training(Bench& bench, Engine& engine, const Communicator& world) {
  const double n = static_cast<double>(kTrainingTokens);
  const double sequences = static_cast<double>(kTrainingSequences) * bench.ranks();
  std::vector<Experience> step;
  for (std::int64_t i = 0; i < kTrainingSequences * world.size(); ++i) {
    step.push_back(experience_of_demonstration(some_tokens(1, 300), some_tokens(kTrainingTokens, 301 + static_cast<std::uint64_t>(i)),
                                               {}, i));
  }
  std::vector<const Experience*> pointers;
  for (const Experience& experience : step) pointers.push_back(&experience);
  Work work;
  work.tokens = sequences * n;
  work.flops = training_flops(engine.shape().model, work.tokens, sequences * causal_pairs(n), work.tokens);
  work.bytes = bench.ranks() * 28.0 * static_cast<double>(parameter_count(engine.shape().model));
  work.bound = Work::Bound::sum;
  const Sft algorithm;
  StepRequest request;
  request.experiences = pointers;
  request.algorithm = &algorithm;
  request.learning_rate = 1e-5;
  bench.measure(fmt::format("training 4 x 256, {} slices", engine.shape().optimizer->gradient_slices), work, [&] {
    const double start = now(bench.clock());
    engine.trainer().step(request, world, {});
    return now(bench.clock()) - start;
  });
}

std::unique_ptr<Engine> make_engine(int threads, std::int64_t slices, const Communicator& world, Stream::Waiting waiting) {
  auto engine = std::make_unique<Engine>(engine_shape(threads, slices), world.rank(), world.size(), waiting);
  engine->weights().initialise(1);
  engine->policy().pack_weights();
  return engine;
}

}  // namespace

int main(int argc, char** argv) {
  MpiEnvironment mpi(&argc, &argv);
  const int threads = argc > 1 ? std::atoi(argv[1]) : 1, samples = argc > 2 ? std::atoi(argv[2]) : 5;
  const std::string_view only = argc > 3 ? argv[3] : "";
  if (threads < 1 || samples < 1) {
    fmt::print(stderr, "usage: [mpirun -n RANKS] model_bench [threads] [samples] [decode|prefill|scoring|training]\n");
    return 64;
  }
  DeviceRuntime runtime;
  const Communicator world = mpi.world(Communicator::Checking::off);
  const bool crowded = mpi.ranks_on_node() * threads > static_cast<int>(std::thread::hardware_concurrency());
  const Stream::Waiting waiting = crowded ? Stream::Waiting::sleep : Stream::Waiting::spin_briefly;
  if (world.rank() == 0) {
    fmt::print("{}, {}, {}, {} ranks of {} threads\n", processor_name(), backend_description(), instruction_set(), world.size(), threads);
  }
  Bench bench(world, threads, samples, waiting);
  const auto wanted = [&](std::string_view name) { return only.empty() || only == name; };
  auto engine = make_engine(threads, world.size(), world, waiting);
  for (const std::int64_t rows : {1, 8, 32}) {
    if (wanted("decode")) decode(bench, *engine, rows);
  }
  if (wanted("prefill")) prefill(bench, *engine);
  if (wanted("scoring")) scoring(bench, *engine);
  if (wanted("training")) {
    training(bench, *engine, world);
    engine.reset();
    engine = make_engine(threads, 8, world, waiting);
    training(bench, *engine, world);
  }
  return 0;
}
