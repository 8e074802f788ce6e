// A whole network of 135M parameters (the shape of SmolLM2-135M, random weights) against what this machine can do:
// decoding, prefill, scoring and training through the classes of the program.
//
// The limit is the arithmetic and the bytes that the work cannot avoid (model/flops.hpp) at the peak and the read
// bandwidth that probes find before and after each sample, on the same threads of the same ranks. Of several ranks the
// slowest counts, each has the work of one, and what the sum of gradients costs is not in the limit.
//
//   [mpirun -n RANKS] model_bench [threads] [samples]
//   [all|decode-1|decode-8|decode-32|prefill|scoring|training|slices-8] [f32|bf16]

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
#include "network_cases.hpp"
#include "region_times.hpp"

namespace {

using namespace maxplus;
using namespace maxplus::performance;

constexpr std::int64_t kPrefill = 512, kScoringBatch = 2048;
constexpr std::int64_t kTrainingSequences = 4, kTrainingTokens = 256;  // a rank and step
constexpr std::int64_t kScored[] = {64, 512, 128, 448, 192, 384, 256, 320, 96, 480, 288, 160, 352, 416};

class Bench {
 public:
  Bench(const Communicator& world, int threads, int samples, ops::Arithmetic arithmetic, Stream::Waiting waiting)
      : world_(world),
        samples_(samples),
        clock_(threads == 1 && world.size() == 1 ? Clock::processor : Clock::wall),
        stream_(threads, waiting),
        probe_(stream_, arithmetic) {}

  Clock clock() const { return clock_; }
  double ranks() const { return static_cast<double>(world_.size()); }

  void measure(const Case& work) {
    work.run();
    std::vector<double> seconds, percent, flops, bytes;
    const double mpi_before = world_.traffic().seconds;
    RegionTimes regions(clock_);
    for (int i = 0; i < samples_; ++i) {
      const Limits before = limits();
      world_.barrier();
      double slowest = work.run().counted;
      world_.maximum({&slowest, 1});
      const Limits after = limits();
      const Limits both{(before.flops + after.flops) / 2, (before.bytes + after.bytes) / 2};
      seconds.push_back(slowest);
      percent.push_back(100.0 * work.work.least_seconds(both) / slowest);
      flops.push_back(both.flops * 1e-9);
      bytes.push_back(both.bytes * 1e-9);
    }
    if (world_.rank() != 0) return;
    fmt::print(
        "{:<28} {:9.4f} s {:8.1f} tok/s {:5.1f} % of the limit ({:.1f} to {:.1f}); {:.1f} GFLOP/s, {:.1f} GB/s\n",
        work.name, median(seconds), work.work.tokens / median(seconds), median(percent),
        *std::min_element(percent.begin(), percent.end()), *std::max_element(percent.begin(), percent.end()),
        median(flops), median(bytes));
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

  // Shares of the time of rank 0. Decoding is timed without its prefill, whose kernels run too: shares are of all
  // kernels.
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

std::vector<Tokens> sequences(std::int64_t count, std::int64_t tokens, std::uint64_t seed) {
  std::vector<Tokens> made;
  for (std::int64_t i = 0; i < count; ++i) made.push_back(some_tokens(tokens, seed + static_cast<std::uint64_t>(i)));
  return made;
}

std::unique_ptr<Engine> make_engine(const Setting& setting, const Communicator& world, Stream::Waiting waiting) {
  auto engine = std::make_unique<Engine>(bench_shape(setting), world.rank(), world.size(), waiting);
  engine->weights().initialise(1);
  engine->policy().pack_weights();
  return engine;
}

}  // namespace

int main(int argc, char** argv) {
  MpiEnvironment mpi(&argc, &argv);
  const int threads = argc > 1 ? std::atoi(argv[1]) : 1, samples = argc > 2 ? std::atoi(argv[2]) : 5;
  const std::string_view only = argc > 3 ? argv[3] : "all", type = argc > 4 ? argv[4] : "f32";
  if (threads < 1 || samples < 1 || (type != "f32" && type != "bf16")) {
    fmt::print(stderr, "usage: [mpirun -n RANKS] model_bench [threads] [samples] [all | case] [f32 | bf16]\n");
    return 64;
  }
  DeviceRuntime runtime;
  const Communicator world = mpi.world(Communicator::Checking::off);
  const bool crowded = mpi.ranks_on_node() * threads > static_cast<int>(std::thread::hardware_concurrency());
  const Stream::Waiting waiting = crowded ? Stream::Waiting::sleep : Stream::Waiting::spin_briefly;
  Setting setting;
  setting.model = smollm2_135m();
  setting.arithmetic = type == "bf16" ? ops::native_bf16() : ops::Arithmetic::f32;
  setting.threads = threads;
  setting.slices = world.size();
  setting.batch_tokens = kScoringBatch;
  if (world.rank() == 0) {
    fmt::print("{}, {}, {}, {} ranks of {} threads, {}\n", processor_name(), backend_description(), instruction_set(),
               world.size(), threads, ops::name_of(setting.arithmetic));
  }
  Bench bench(world, threads, samples, setting.arithmetic, waiting);
  const auto wanted = [&](std::string_view name) { return only == "all" || only == name; };
  auto engine = make_engine(setting, world, waiting);
  for (const std::int64_t rows : {1, 8, 32}) {
    if (!wanted(fmt::format("decode-{}", rows))) continue;
    bench.measure(decoding_case(*engine, sequences(rows, setting.prompt_tokens, 100), setting.new_tokens,
                                Drawing::sampled, bench.ranks(), bench.clock()));
  }
  if (wanted("prefill")) bench.measure(prefill_case(*engine, some_tokens(kPrefill, 100), bench.ranks(), bench.clock()));
  if (wanted("scoring")) {
    std::vector<Tokens> scored;
    for (const std::int64_t length : kScored) scored.push_back(some_tokens(length, 200 + scored.size()));
    bench.measure(scoring_case(*engine, std::move(scored), kScoringBatch, bench.ranks(), bench.clock()));
  }
  const std::vector<Tokens> trained = sequences(kTrainingSequences, kTrainingTokens + 1, 300);
  if (wanted("training")) bench.measure(training_case(*engine, trained, world, bench.clock()));
  if (wanted("slices-8")) {
    engine.reset();
    setting.slices = 8;
    engine = make_engine(setting, world, waiting);
    bench.measure(training_case(*engine, trained, world, bench.clock()));
  }
  return 0;
}
