#pragma once
// The fixed team of threads behind a Stream, and how kernels cut their work over it.
//
// Why an own team and not Kokkos::parallel_for: bits must not depend on the number of threads, so work is cut by
// output, and contiguously (each thread also streams long runs of the weights), and a decode step starts some 400
// kernels, so a start must cost a microsecond and may not depend on which execution space a site's Kokkos was built
// with (Debian's has Serial only). Kokkos gives initialisation, its tools' regions (region.hpp) and the description; if
// its default host space is concurrent it is left idle. Memory is mapped by memory.cpp, which says why.
//
// Bodies must not throw and must not start work on the same stream.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "device/memory.hpp"
#include "device/stream.hpp"
#include "kokkos/shares.hpp"

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
  Shares& shares() { return shares_; }
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
  Shares shares_;
  alignas(64) std::atomic<std::uint32_t> round_{0};
  Body body_ = nullptr;
  void* context_ = nullptr;
  bool stop_ = false;
  alignas(64) std::atomic<std::uint32_t> finished_{0};  // workers, over all rounds
  std::vector<std::jthread> workers_;
};

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

// f(run, before, thread) for runs of parts that together are all of them, taken as the threads get on (shares.hpp);
// `before` is the run that the thread did last in this call, empty at first. No run crosses a multiple of `row` parts.
// For work that takes far longer than the taking of a run, some 50 ns.
template <class F>
void for_each_run(const Stream& stream, std::int64_t parts, std::int64_t row, F&& f) {
  Team& team = stream.impl().team;
  if (parts <= 0) return;
  team.shares().deal(parts, row);
  struct Call {
    F& f;
    Shares& shares;
  } call{f, team.shares()};
  const Team::Body body = [](void* context, int thread) {
    Call& c = *static_cast<Call*>(context);
    Run before{0, 0};
    for (Run run{0, 0}; c.shares.take(thread, run); before = run) c.f(run, before, thread);
  };
  if (parts == 1) {
    body(&call, 0);
  } else {
    team.run(body, &call);
  }
}

// f(part) for every part, ascending within a thread.
template <class F>
void for_each_part(const Stream& stream, std::int64_t parts, F&& f) {
  for_each_range(stream, parts, [&](std::int64_t first, std::int64_t last, int) {
    for (std::int64_t part = first; part < last; ++part) f(part);
  });
}

// The same, taken as the threads get on.
template <class F>
void for_each_part_taken(const Stream& stream, std::int64_t parts, F&& f) {
  for_each_run(stream, parts, std::max<std::int64_t>(parts, 1), [&](Run run, Run, int) {
    for (std::int64_t part = run.first; part < run.last; ++part) f(part);
  });
}

}  // namespace maxplus::host
