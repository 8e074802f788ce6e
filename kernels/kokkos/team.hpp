#pragma once
// The fixed team of threads behind a Stream, and how kernels cut their work over it.
//
// Why an own team and not Kokkos::parallel_for: bits must not depend on the number of threads, so work is cut by
// output, statically and contiguously (each thread also streams one long run of the weights), and a decode step starts
// some 400 kernels, so a start must cost a microsecond and may not depend on which execution space a site's Kokkos was
// built with (Debian's has Serial only). Kokkos gives initialisation, its tools' regions (region.hpp) and the
// description; if its default host space is concurrent it is left idle. Memory is mapped by memory.cpp, which says why.
//
// Bodies must not throw and must not start work on the same stream.

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "device/memory.hpp"
#include "device/stream.hpp"

namespace maxplus::host {

// Flush-to-zero and denormals-are-zero in the calling thread.
void set_flush_to_zero();

class Team {
 public:
  using Body = void (*)(void* context, int thread);

  Team(int threads, Stream::Waiting waiting);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int threads() const { return threads_; }
  // body(context, t) for every thread t, 0 in the caller; returns when all have finished.
  void run(Body body, void* context);
  // Scratch of one thread, kWorkspaceFloats f32. Whoever runs a kernel owns it until the kernel's call returns.
  static constexpr std::int64_t kWorkspaceFloats = 512 * 1024;
  float* workspace(int thread) const {
    return static_cast<float*>(workspace_.data()) + static_cast<std::int64_t>(thread) * kWorkspaceFloats;
  }

 private:
  void work(int thread);
  std::uint32_t await_change(const std::atomic<std::uint32_t>& word, std::uint32_t old) const;

  int threads_;
  bool spin_;
  Memory workspace_;
  alignas(64) std::atomic<std::uint32_t> round_{0};
  Body body_ = nullptr;
  void* context_ = nullptr;
  bool stop_ = false;
  alignas(64) std::atomic<std::uint32_t> finished_{0};  // workers, over all rounds
  std::vector<std::jthread> workers_;
};

// First of the `parts` that thread t of `threads` gets.
inline std::int64_t part_begin(std::int64_t parts, int threads, int t) { return parts * t / threads; }

}  // namespace maxplus::host

namespace maxplus {

struct Stream::Impl {
  Impl(int threads, Waiting waiting) : team(threads, waiting) {}
  host::Team team;
};

}  // namespace maxplus

namespace maxplus::host {

// f(first, last, thread) for the contiguous run of parts of each thread that gets any.
template <class F>
void for_each_range(const Stream& stream, std::int64_t parts, F&& f) {
  Team& team = stream.impl().team;
  if (parts <= 0) return;
  if (team.threads() == 1 || parts == 1) {
    f(std::int64_t{0}, parts, 0);
    return;
  }
  struct Call {
    F& f;
    std::int64_t parts;
    int threads;
  } call{f, parts, team.threads()};
  team.run(
      [](void* context, int thread) {
        Call& c = *static_cast<Call*>(context);
        const std::int64_t first = part_begin(c.parts, c.threads, thread),
                           last = part_begin(c.parts, c.threads, thread + 1);
        if (first < last) c.f(first, last, thread);
      },
      &call);
}

// f(part) for every part, ascending within a thread.
template <class F>
void for_each_part(const Stream& stream, std::int64_t parts, F&& f) {
  for_each_range(stream, parts, [&](std::int64_t first, std::int64_t last, int) {
    for (std::int64_t part = first; part < last; ++part) f(part);
  });
}

}  // namespace maxplus::host
