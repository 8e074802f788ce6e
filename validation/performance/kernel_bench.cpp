// Matrix products of a 135M-parameter network against what this machine can do.
//
// First the limits, on the same threads: fused multiply-add peak and read bandwidth (huge pages). Then each product:
// GFLOP/s and the percentage of the nearer limit, min(peak, bandwidth * arithmetic intensity of reading the weights
// once). For few rows the weights rotate over copies larger than the caches, so that they come from memory as they do
// in decoding.
//
// Samples of a kernel and of both limits take turns and medians are compared, since the speed of a machine that is
// shared changes within seconds. One thread is timed by its processor time, several by the wall clock.
//
//   kernel_bench [threads] [seconds a figure] [shape | all] [f32 | bf16_dot | bf16_tiles]

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "device/memory.hpp"
#include "device/runtime.hpp"
#include "device/stream.hpp"
#include "ops/matmul.hpp"
#include "ops/optimizer.hpp"
#include "probe.hpp"

namespace {

using namespace maxplus::ops;
using maxplus::DType;
using maxplus::Memory;
using maxplus::Space;
using maxplus::Stream;
using maxplus::TensorView;
using maxplus::performance::Clock;
using maxplus::performance::median;
using maxplus::performance::now;
using maxplus::performance::Probe;

constexpr std::int64_t kColdBytes = 256 << 20;  // of weights to rotate over
constexpr std::int64_t kColdRows = 64;          // up to so many rows weights are cold

struct Figure {
  double seconds;       // one call
  double flops, bytes;  // a second, at most, at the same time
};

class Bench {
 public:
  Bench(const Stream& stream, Arithmetic arithmetic, double seconds)
      : probe_(stream, arithmetic), clock_(stream.threads() == 1 ? Clock::processor : Clock::wall), seconds_(seconds) {}

  // Medians of samples of at least half a millisecond.
  Figure figure(const std::function<void()>& f) {
    f();
    int calls = 1;
    while (sample(f, calls) * calls < 5e-4) calls *= 2;
    std::vector<double> kernel, arithmetic, reading;
    const double begin = now(Clock::wall);
    while (now(Clock::wall) - begin < seconds_ || kernel.size() < 5) {
      kernel.push_back(sample(f, calls));
      arithmetic.push_back(sample([&] { probe_.multiply_add(); }, 1));
      reading.push_back(sample([&] { probe_.read(); }, 1));
    }
    return {median(kernel), probe_.flops() / median(arithmetic), probe_.bytes() / median(reading)};
  }

 private:
  double sample(const std::function<void()>& f, int calls) const {
    const double start = now(clock_);
    for (int i = 0; i < calls; ++i) f();
    return (now(clock_) - start) / calls;
  }

  Probe probe_;
  Clock clock_;
  double seconds_;
};

struct Shape {
  const char* name;
  std::int64_t outputs, inputs;
};

constexpr Shape kShapes[] = {
    {"qkv", 960, 576}, {"o", 576, 576}, {"gate_up", 3072, 576}, {"down", 576, 1536}, {"head", 49152, 576}};

// Packed matrices of ordinary numbers.
class Weights {
 public:
  Weights(std::int64_t elements, std::int64_t copies, Arithmetic arithmetic)
      : type_(packed_type(arithmetic)),
        elements_(elements),
        memory_(static_cast<std::size_t>(elements * copies) * size_of(type_), Space::host) {
    constexpr std::uint32_t kWord = 0x3c233c23;  // about 0.01 as f32 and as two bf16
    std::uint32_t* words = static_cast<std::uint32_t*>(memory_.data());
    std::fill(words, words + memory_.bytes() / sizeof kWord, kWord);
  }
  TensorView copy(std::int64_t number) const {
    return TensorView(
        static_cast<char*>(memory_.data()) + static_cast<std::size_t>(number * elements_) * size_of(type_), type_,
        Space::host, {elements_});
  }
  double bytes() const { return static_cast<double>(elements_) * static_cast<double>(size_of(type_)); }

 private:
  maxplus::DType type_;
  std::int64_t elements_;
  Memory memory_;
};

TensorView view(const Memory& memory, std::int64_t first, std::initializer_list<std::int64_t> extents) {
  return TensorView(static_cast<float*>(memory.data()) + first, DType::f32, Space::host, extents);
}

Memory filled(std::int64_t floats) {
  Memory memory(static_cast<std::size_t>(floats) * sizeof(float), Space::host);
  float* values = static_cast<float*>(memory.data());
  for (std::int64_t i = 0; i < floats; ++i) values[i] = 0.001f * static_cast<float>(i % 1999 - 999);
  return memory;
}

void print(const char* name, const char* kind, std::int64_t rows, double flops, double weight_bytes,
           const Figure& figure) {
  const double least = std::max(flops / figure.flops, weight_bytes / figure.bytes);
  fmt::print("{:8} {:5} {:5} {:8.1f} GFLOP/s of {:5.1f} {:6.2f} GB/s of {:5.1f} {:6.1f} % of the limit\n", name, kind,
             rows, flops / figure.seconds * 1e-9, figure.flops * 1e-9, weight_bytes / figure.seconds * 1e-9,
             figure.bytes * 1e-9, 100.0 * least / figure.seconds);
  std::fflush(stdout);
}

void bench_forward(Bench& bench, const Stream& stream, const Shape& shape, Arithmetic arithmetic) {
  const std::int64_t size = packed_elements(shape.outputs, shape.inputs, arithmetic);
  const auto element = static_cast<std::int64_t>(size_of(packed_type(arithmetic)));
  const std::int64_t copies = std::max<std::int64_t>(1, kColdBytes / (size * element));
  const Weights packed(size, copies, arithmetic);
  const Memory in = filled(1024 * shape.inputs);
  Memory out(static_cast<std::size_t>(1024 * shape.outputs) * sizeof(float), Space::host);
  for (const std::int64_t rows : {1, 2, 4, 8, 16, 24, 32, 64, 256, 1024}) {
    std::int64_t turn = 0;
    const Figure figure = bench.figure([&] {
      const std::int64_t copy = rows <= kColdRows ? turn++ % copies : 0;
      matmul(stream, view(out, 0, {rows, shape.outputs}), view(in, 0, {rows, shape.inputs}), packed.copy(copy),
             shape.outputs, arithmetic);
    });
    const double terms = static_cast<double>(rows) * static_cast<double>(shape.outputs * shape.inputs);
    print(shape.name, "y", rows, 2.0 * terms, rows <= kColdRows ? packed.bytes() : 0.0, figure);
  }
}

void bench_backward(Bench& bench, const Stream& stream, const Shape& shape, Arithmetic arithmetic) {
  constexpr std::int64_t kRows = 1024;
  const std::int64_t transposed = packed_elements(shape.inputs, shape.outputs, arithmetic);
  const Weights packed(transposed, 1, arithmetic);
  const Memory in = filled(kRows * shape.inputs), d_out = filled(kRows * shape.outputs);
  Memory d_in(static_cast<std::size_t>(kRows * shape.inputs) * sizeof(float), Space::host);
  Memory d_weight(static_cast<std::size_t>(shape.outputs * shape.inputs) * sizeof(float), Space::host);
  const std::int64_t scratch_size = weight_gradient_scratch(stream, kRows, shape.outputs, shape.inputs, arithmetic);
  Memory scratch(static_cast<std::size_t>(scratch_size) * sizeof(float), Space::host);
  const double flops = 2.0 * static_cast<double>(kRows * shape.outputs * shape.inputs);
  const TensorView d_out_view = view(d_out, 0, {kRows, shape.outputs}), in_view = view(in, 0, {kRows, shape.inputs});
  print(shape.name, "dx", kRows, flops, 0.0, bench.figure([&] {
    matmul(stream, view(d_in, 0, {kRows, shape.inputs}), d_out_view, packed.copy(0), shape.inputs, arithmetic);
  }));
  print(shape.name, "dw", kRows, flops, 0.0, bench.figure([&] {
    matmul_weight_gradient(stream, view(d_weight, 0, {shape.outputs, shape.inputs}), d_out_view, in_view,
                           view(scratch, 0, {scratch_size}), arithmetic);
  }));
}

// Bytes that the optimizer and the packing move, in GB/s.
void bench_memory_bound(Bench& bench, const Stream& stream, Arithmetic arithmetic) {
  constexpr std::int64_t kElements = 8 << 20;
  Memory w = filled(kElements), m = filled(kElements), v(kElements * sizeof(float), Space::host), g = filled(kElements);
  const AdamWStep step{1e-3f, 0.9f, 0.95f, 1e-8f, 0.1f, 1.0f, 0.1f, 0.2f};
  const auto flat = [](const Memory& memory) { return view(memory, 0, {kElements}); };
  const Figure adamw_figure = bench.figure([&] { adamw(stream, flat(w), flat(m), flat(v), flat(g), step); });
  fmt::print("adamw    {:6.2f} ns an element, {:.1f} GB/s\n", adamw_figure.seconds / kElements * 1e9,
             28e-9 * kElements / adamw_figure.seconds);
  const TensorView weight = view(w, 0, {kElements / 512, 512});
  const Weights packed(packed_elements(kElements / 512, 512, arithmetic), 1, arithmetic);
  const Weights transposed(packed_elements(512, kElements / 512, arithmetic), 1, arithmetic);
  const Figure rows = bench.figure([&] { pack_weight(stream, packed.copy(0), weight, arithmetic); });
  const Figure columns = bench.figure([&] { pack_weight_transposed(stream, transposed.copy(0), weight, arithmetic); });
  fmt::print("pack     {:6.2f} ns an element, transposed {:.2f}\n", rows.seconds / kElements * 1e9,
             columns.seconds / kElements * 1e9);
}

}  // namespace

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : 1;
  const double seconds = argc > 2 ? std::atof(argv[2]) : 0.5;
  const std::string_view only = argc > 3 ? argv[3] : "all", asked = argc > 4 ? argv[4] : "f32";
  Arithmetic arithmetic = Arithmetic::f32;
  for (const Arithmetic known : {Arithmetic::bf16_dot, Arithmetic::bf16_tiles}) {
    if (asked == name_of(known)) arithmetic = known;
  }
  if (threads < 1 || seconds <= 0.0 || asked != name_of(arithmetic)) {
    fmt::print(stderr,
               "usage: kernel_bench [threads] [seconds a figure] [shape | all] [f32 | bf16_dot | bf16_tiles]\n");
    return 64;
  }
  maxplus::DeviceRuntime runtime;
  const Stream stream(threads, Stream::Waiting::spin_briefly);
  Bench bench(stream, arithmetic, seconds);
  fmt::print("{}, {}, {}, {} threads, {}\n", maxplus::processor_name(), maxplus::backend_description(),
             maxplus::instruction_set(), threads, name_of(arithmetic));
  for (const Shape& shape : kShapes) {
    if (only != "all" && only != shape.name) continue;
    bench_forward(bench, stream, shape, arithmetic);
    bench_backward(bench, stream, shape, arithmetic);
  }
  bench_memory_bound(bench, stream, arithmetic);
  return 0;
}
