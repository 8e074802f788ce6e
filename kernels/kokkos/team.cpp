#include "kokkos/team.hpp"

#include <algorithm>

#include "base/error.hpp"

#ifdef MAXPLUS_X86
#include <immintrin.h>
#endif

namespace maxplus::host {

namespace {

constexpr int kSpins = 1500;  // some ten microseconds, about the pause between two kernels of a decode step

void relax() {
#ifdef MAXPLUS_X86
  _mm_pause();
#else
  std::atomic_signal_fence(std::memory_order_seq_cst);
#endif
}

}  // namespace

void set_flush_to_zero() {
#ifdef MAXPLUS_X86
  _mm_setcsr(_mm_getcsr() | 0x8040u);  // bits FTZ and DAZ
#elif defined(__aarch64__)
  std::uint64_t fpcr;
  __asm__ volatile("mrs %0, fpcr" : "=r"(fpcr));
  __asm__ volatile("msr fpcr, %0" : : "r"(fpcr | (1ull << 24)));
#endif
}

Team::Team(int threads, Stream::Waiting waiting)
    : threads_(threads),
      spin_(waiting == Stream::Waiting::spin_briefly),
      workspace_(static_cast<std::size_t>(std::max(threads, 1)) * kWorkspaceFloats * sizeof(float), Space::host),
      shares_(std::max(threads, 1)) {
  MAXPLUS_REQUIRE(threads >= 1, "a stream has at least one thread");
  set_flush_to_zero();
  workers_.reserve(static_cast<std::size_t>(threads - 1));
  for (int t = 1; t < threads; ++t) workers_.emplace_back([this, t] { work(t); });
}

Team::~Team() {
  stop_ = true;
  round_.fetch_add(1, std::memory_order_release);
  round_.notify_all();
}

std::uint32_t Team::await_change(const std::atomic<std::uint32_t>& word, std::uint32_t old) const {
  if (spin_) {
    for (int i = 0; i < kSpins; ++i) {
      const std::uint32_t now = word.load(std::memory_order_acquire);
      if (now != old) return now;
      relax();
    }
  }
  word.wait(old, std::memory_order_acquire);
  return word.load(std::memory_order_acquire);
}

void Team::run(Body body, void* context) {
  body_ = body;
  context_ = context;
  const std::uint32_t goal = finished_.load(std::memory_order_relaxed) + static_cast<std::uint32_t>(threads_ - 1);
  round_.fetch_add(1, std::memory_order_release);
  round_.notify_all();
  body(context, 0);
  std::uint32_t done = finished_.load(std::memory_order_acquire);
  while (done != goal) done = await_change(finished_, done);
}

void Team::work(int thread) {
  set_flush_to_zero();
  std::uint32_t round = 0;
  while (true) {
    await_change(round_, round);
    ++round;  // the caller waits for all workers, so no round is missed
    if (stop_) return;
    body_(context_, thread);
    finished_.fetch_add(1, std::memory_order_release);
    finished_.notify_all();
  }
}

}  // namespace maxplus::host
