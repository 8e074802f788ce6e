#include "run/watchdog.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <exception>
#include <fstream>
#include <new>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "comm/environment.hpp"

namespace maxplus {

namespace {

std::int64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1000000000 + now.tv_nsec;
}

// 'T' for a process that a signal has stopped, 0 when it is gone.
char process_state(int process) {
  std::ifstream stat(fmt::format("/proc/{}/stat", process));
  std::string text;
  if (!std::getline(stat, text)) return 0;
  const std::size_t close = text.rfind(')');
  return close == std::string::npos || close + 2 >= text.size() ? 0 : text[close + 2];
}

}  // namespace

Watchdog::Watchdog(const Communicator& world, double limit_s, std::string log_path, const std::string& roles)
    : limit_s_(limit_s), log_path_(std::move(log_path)), host_(MpiEnvironment::host_name()), rank_(world.rank()) {
  MPI_Comm_split_type(world.handle(), MPI_COMM_TYPE_SHARED, world.rank(), MPI_INFO_NULL, &node_);
  MPI_Comm_size(node_, &node_ranks_);
  MPI_Comm_rank(node_, &node_rank_);
  void* mine = nullptr;
  MPI_Win_allocate_shared(static_cast<MPI_Aint>(sizeof(Beat)), sizeof(Beat), MPI_INFO_NULL, node_,
                          static_cast<void*>(&mine), &window_);
  MPI_Aint size = 0;
  int unit = 0;
  void* first = nullptr;
  MPI_Win_shared_query(window_, 0, &size, &unit, static_cast<void*>(&first));
  beats_ = static_cast<Beat*>(first);
  new (mine) Beat{};
  beats_[node_rank_].process = static_cast<std::int32_t>(getpid());
  beats_[node_rank_].rank = rank_;
  roles.copy(beats_[node_rank_].roles, sizeof(Beat::roles) - 1);
  beat("start");
  MPI_Barrier(node_);
  if (limit_s_ > 0) thread_ = std::thread([this] { watch(); });
}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(ending_);
    ended_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
  // A rank that leaves by an exception must not wait for the others.
  if (std::uncaught_exceptions() > 0) return;
  if (window_ != MPI_WIN_NULL) MPI_Win_free(&window_);
  if (node_ != MPI_COMM_NULL) MPI_Comm_free(&node_);
}

void Watchdog::write(const char* stage, int waiting) {
  Beat& beat = beats_[node_rank_];
  std::size_t i = 0;
  for (; stage[i] != 0 && i + 1 < std::size(beat.stage); ++i) beat.stage[i].store(stage[i], std::memory_order_relaxed);
  beat.stage[i].store(0, std::memory_order_relaxed);
  beat.waiting.store(waiting, std::memory_order_relaxed);
  beat.time_ns.store(now_ns(), std::memory_order_release);
}

void Watchdog::beat(const char* stage) { write(stage, 0); }
void Watchdog::wait(const char* stage) { write(stage, 1); }

bool Watchdog::others_work(std::int64_t now) const {
  for (int i = 0; i < node_ranks_; ++i) {
    const double silent_s = 1e-9 * static_cast<double>(now - beats_[i].time_ns.load());
    if (i != node_rank_ && beats_[i].waiting == 0 && silent_s < limit_s_) return true;
  }
  return false;
}

void Watchdog::watch() {
  // Looks often enough that the job ends within the limit and two seconds, and never keeps a core busy.
  const auto pause = std::chrono::duration<double>(std::clamp(limit_s_ / 10, 0.02, 0.5));
  std::unique_lock lock(ending_);
  while (!wake_.wait_for(lock, pause, [this] { return ended_; })) {
    const std::int64_t now = now_ns();
    const double silent_s = 1e-9 * static_cast<double>(now - beats_[node_rank_].time_ns.load());
    if (silent_s < limit_s_) continue;
    if (beats_[node_rank_].waiting != 0 && others_work(now)) continue;
    const std::string text = report(silent_s);
    beats_[node_rank_].ended = 1;
    std::fputs(text.c_str(), stderr);
    if (const int file = ::open(log_path_.c_str(), O_WRONLY | O_APPEND | O_CREAT, 0644); file >= 0) {
      const ssize_t written = ::write(file, text.data(), text.size());
      (void)written;
      ::close(file);
    }
    _exit(static_cast<int>(ExitCode::temporary));
  }
}

// A stopped process, else one that is gone, else the oldest beat among those that do not wait for others.
int Watchdog::silent_one() const {
  int gone = -1, oldest = -1;
  for (int i = 0; i < node_ranks_; ++i) {
    if (beats_[i].ended != 0) continue;
    const char state = process_state(beats_[i].process);
    if (state == 'T') return i;
    if (state == 0 || state == 'Z') gone = i;
    if (beats_[i].waiting == 0 && (oldest < 0 || beats_[i].time_ns < beats_[oldest].time_ns)) oldest = i;
  }
  return gone >= 0 ? gone : oldest;
}

std::string Watchdog::report(double silent_s) const {
  const std::int64_t now = now_ns();
  const int culprit = silent_one();
  std::string text = fmt::format("maxplus: error: no progress on rank {} ({}) for {:.1f} s (watchdog_s = {})\n", rank_,
                                 host_, silent_s, limit_s_);
  if (culprit >= 0) {
    const char state = process_state(beats_[culprit].process);
    text += fmt::format("  silent: rank {} ({}){}\n", beats_[culprit].rank.load(), beats_[culprit].roles,
                        state == 'T' ? " (its process is stopped)"
                        : state == 0 ? " (its process is gone)"
                                     : "");
  }
  for (int i = 0; i < node_ranks_; ++i) {
    std::string stage;
    for (const auto& c : beats_[i].stage) {
      if (c.load() == 0) break;
      stage += c.load();
    }
    text += fmt::format("  rank {} ({}): {} {}, last heartbeat {:.1f} s ago\n", beats_[i].rank.load(), beats_[i].roles,
                        beats_[i].waiting ? "waits in" : "was in", stage,
                        1e-9 * static_cast<double>(now - beats_[i].time_ns));
  }
  text +=
      "  try: look at that rank's node; the newest checkpoint is intact, start the same command again (exit code 75)\n";
  return text;
}

}  // namespace maxplus
