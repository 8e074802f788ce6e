// The pool. A thread owns a slot; the caller looks at the slots' clocks. Whoever marks an item first, thread or caller,
// decides it.
#include "verify/verifier_pool.hpp"

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>

#include <fmt/format.h>

#include "base/error.hpp"

namespace maxplus {

namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kPollInterval = std::chrono::milliseconds(20);
constexpr std::int64_t kMaxAbandoned = 256;  // each holds a stack and perhaps a core

}  // namespace

// The items of one call; kept alive by every thread that works on one of them, which adding more does not move.
struct VerifierPool::Job {
  std::deque<JudgeItem> item;
  std::vector<Assessment> result;
  std::size_t open = 0;
  Clock::time_point busy_since;  // while any is open
  Clock::duration busy{};

  void close(std::size_t index, Assessment assessment) {
    result[index] = std::move(assessment);
    if (--open == 0) busy += Clock::now() - busy_since;
  }
};

struct VerifierPool::Slot {
  std::thread thread;
  std::shared_ptr<Job> job;  // null: idle
  std::size_t index = 0;
  Clock::time_point deadline;
  bool abandoned = false;
};

struct VerifierPool::State {
  std::shared_ptr<const Verifier> verifier;
  double timeout_s = 0;
  Clock::duration timeout{};

  std::mutex mutex;  // guards all that follows, and every Job and Slot
  std::condition_variable work_there, item_done;
  std::deque<std::pair<std::shared_ptr<Job>, std::size_t>> waiting;
  std::vector<std::shared_ptr<Slot>> slot;
  std::int64_t abandoned = 0;
  Clock::duration busy{};  // of finished jobs
  bool ending = false;
};

void VerifierPool::work(const std::shared_ptr<State>& state, const std::shared_ptr<Slot>& slot) {
  std::unique_lock lock(state->mutex);
  for (;;) {
    state->work_there.wait(lock, [&] { return state->ending || !state->waiting.empty(); });
    if (state->ending) return;
    const auto [job, index] = state->waiting.front();
    state->waiting.pop_front();
    const JudgeItem& item = job->item[index];
    slot->job = job;
    slot->index = index;
    slot->deadline = Clock::now() + state->timeout;
    lock.unlock();
    Assessment assessment;
    try {
      assessment = state->verifier->assess(item.problem, item.rollout, item.response);
    } catch (const std::exception& error) {
      assessment = judged(Verdict::crashed, error.what());
    } catch (...) {
      assessment = judged(Verdict::crashed, "the verifier failed");
    }
    lock.lock();
    if (slot->abandoned) return;
    slot->job.reset();
    job->close(index, std::move(assessment));
    state->item_done.notify_one();
  }
}

void VerifierPool::add_thread() {
  auto slot = std::make_shared<Slot>();
  sigset_t all, before;
  ::sigfillset(&all);  // signals are for the main thread
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    slot->thread = std::thread([state = state_, slot] { work(state, slot); });
  } catch (const std::system_error& error) {
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw Error(ExitCode::os, Fault{"", fmt::format("a thread for verifiers cannot be started: {}", error.what()), "",
                                    "check ulimit -u"});
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  state_->slot.push_back(std::move(slot));
}

VerifierPool::VerifierPool(std::shared_ptr<const Verifier> verifier, std::int64_t workers, double timeout_s)
    : state_(std::make_shared<State>()) {
  MAXPLUS_REQUIRE(workers >= 1 && timeout_s > 0, fmt::format("{} workers, {} s", workers, timeout_s));
  state_->timeout_s = verifier->deadline_s(timeout_s);
  state_->timeout = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(state_->timeout_s));
  state_->verifier = std::move(verifier);
  const std::lock_guard lock(state_->mutex);
  for (std::int64_t i = 0; i < workers; ++i) add_thread();
}

VerifierPool::~VerifierPool() {
  std::unique_lock lock(state_->mutex);
  state_->ending = true;
  state_->work_there.notify_all();
  // Only a call that was left by an exception has items in work here.
  for (;;) {
    Clock::time_point latest = Clock::now();
    bool busy = false;
    for (const auto& slot : state_->slot) {
      if (slot->job == nullptr || slot->deadline <= Clock::now()) continue;
      busy = true;
      latest = std::max(latest, slot->deadline);
    }
    if (!busy) break;
    state_->item_done.wait_until(lock, std::min(latest, Clock::now() + kPollInterval));
  }
  std::vector<std::shared_ptr<Slot>> slots = state_->slot;
  for (const auto& slot : slots) slot->abandoned = slot->job != nullptr;
  lock.unlock();
  for (const auto& slot : slots) {
    if (slot->abandoned) {
      slot->thread.detach();
    } else {
      slot->thread.join();
    }
  }
}

// With the lock held.
void VerifierPool::give_up_late_ones() {
  const auto now = Clock::now();
  for (std::size_t i = 0; i < state_->slot.size();) {
    const std::shared_ptr<Slot> slot = state_->slot[i];
    if (slot->job == nullptr || slot->deadline > now) {
      ++i;
      continue;
    }
    slot->abandoned = true;
    slot->thread.detach();
    if (slot->job == job_) {
      job_->close(slot->index,
                  judged(Verdict::crashed, fmt::format("the verifier gave no verdict within {} s", state_->timeout_s)));
    }
    state_->slot.erase(state_->slot.begin() + static_cast<std::ptrdiff_t>(i));
    if (++state_->abandoned > kMaxAbandoned) {
      throw Error(ExitCode::unavailable,
                  Fault{"", fmt::format("{} verifier threads hang", state_->abandoned), "a verifier that returns",
                        "a longer timeout_s in [reward], or another verifier"});
    }
    add_thread();
  }
}

void VerifierPool::add(std::vector<JudgeItem> items) {
  if (items.empty()) return;
  const std::lock_guard lock(state_->mutex);
  if (!job_) job_ = std::make_shared<Job>();
  if (job_->open == 0) job_->busy_since = Clock::now();
  for (JudgeItem& item : items) {
    state_->waiting.emplace_back(job_, job_->item.size());
    job_->item.push_back(std::move(item));
  }
  job_->open += items.size();
  job_->result.resize(job_->item.size());
  state_->work_there.notify_all();
}

void VerifierPool::look_after() {
  const std::lock_guard lock(state_->mutex);
  give_up_late_ones();
}

void VerifierPool::drop() {
  const std::lock_guard lock(state_->mutex);
  state_->waiting.clear();
  job_.reset();
}

std::vector<Assessment> VerifierPool::finish(const std::function<void()>& poll) {
  if (!job_) return {};
  std::unique_lock lock(state_->mutex);
  try {
    auto next_poll = Clock::now() + kPollInterval;
    while (job_->open > 0) {
      state_->item_done.wait_until(lock, next_poll);
      give_up_late_ones();
      if (Clock::now() < next_poll) continue;
      next_poll = Clock::now() + kPollInterval;
      lock.unlock();
      if (poll) poll();
      lock.lock();
    }
  } catch (...) {
    if (lock.owns_lock()) lock.unlock();
    drop();
    throw;
  }
  state_->busy += job_->busy;
  std::vector<Assessment> results = std::move(job_->result);
  job_.reset();
  return results;
}

std::vector<Assessment> VerifierPool::assess(std::vector<JudgeItem> items, const std::function<void()>& poll) {
  add(std::move(items));
  return finish(poll);
}

double VerifierPool::busy_seconds() const {
  const std::lock_guard lock(state_->mutex);
  return std::chrono::duration<double>(state_->busy).count();
}

std::int64_t VerifierPool::abandoned() const {
  const std::lock_guard lock(state_->mutex);
  return state_->abandoned;
}

}  // namespace maxplus
