// The keeper's loop: hand out items, wait for any pipe or the nearest deadline, act.
#include "verify/command_workers.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <deque>
#include <future>
#include <mutex>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"

namespace maxplus {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMaxAnswerBytes = std::size_t{1} << 20;
constexpr std::size_t kReadBytes = std::size_t{1} << 16;
constexpr int kLongWaitMs = 1000;
constexpr auto kGrace = std::chrono::milliseconds(200);  // for workers to end by themselves at the end

struct Item {
  std::string line;  // with its line feed
  std::promise<CommandWorkers::Answer> answer;
};

struct Worker {
  std::unique_ptr<ChildProcess> child;
  std::unique_ptr<Item> item;
  std::size_t sent = 0;
  std::string received;
  Clock::time_point deadline;
};

}  // namespace

struct CommandWorkers::State {
  ChildProgram program;
  std::shared_ptr<const Broker> broker;
  Clock::duration timeout{};
  double timeout_s = 0;
  int wake = -1;               // eventfd
  std::vector<Worker> worker;  // the keeper's own
  std::thread keeper;

  std::mutex mutex;  // guards what follows
  std::deque<std::unique_ptr<Item>> waiting;
  bool ending = false;
  std::int64_t replaced = 0;

  ~State() { ::close(wake); }
  void finish(Worker& w, Answer answer);
  void replace(Worker& w, std::string failure);
  void start_item(Worker& w, std::unique_ptr<Item> item);
  void write_to(Worker& w);
  void read_from(Worker& w);
  bool hand_out();
  void wait_and_serve();
  void end_all();
};

void CommandWorkers::State::finish(Worker& w, Answer answer) {
  const std::unique_ptr<Item> item = std::move(w.item);
  if (item != nullptr) item->answer.set_value(std::move(answer));
}

void CommandWorkers::State::replace(Worker& w, std::string failure) {
  w.child.reset();  // kills and reaps
  w.received.clear();
  {
    const std::lock_guard lock(mutex);
    ++replaced;
  }
  finish(w, {"", std::move(failure)});
}

void CommandWorkers::State::start_item(Worker& w, std::unique_ptr<Item> item) {
  w.item = std::move(item);
  w.sent = 0;
  w.received.clear();
  w.deadline = Clock::now() + timeout;
  try {
    if (w.child != nullptr && w.child->has_ended()) w.child.reset();
    if (w.child == nullptr) w.child = std::make_unique<ChildProcess>(program, *broker);
  } catch (const Error& error) {
    replace(w, error.what());
    return;
  }
  write_to(w);
}

void CommandWorkers::State::write_to(Worker& w) {
  while (w.item != nullptr && w.sent < w.item->line.size()) {
    const ssize_t n = ::write(w.child->input(), w.item->line.data() + w.sent, w.item->line.size() - w.sent);
    if (n >= 0) {
      w.sent += static_cast<std::size_t>(n);
    } else if (errno == EAGAIN) {
      return;
    } else if (errno != EINTR) {
      replace(w, "the program ended or closed its standard input");
      return;
    }
  }
}

void CommandWorkers::State::read_from(Worker& w) {
  char block[kReadBytes];
  const ssize_t n = ::read(w.child->output(), block, sizeof block);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (n <= 0) return replace(w, "the program ended or closed its standard output before it answered");
  if (w.item == nullptr) return replace(w, "the program spoke without being asked");
  w.received.append(block, static_cast<std::size_t>(n));
  const std::size_t end = w.received.find('\n');
  if (end == std::string::npos) {
    if (w.received.size() > kMaxAnswerBytes)
      replace(w, fmt::format("the program's answer is longer than {} bytes", kMaxAnswerBytes));
    return;
  }
  if (end + 1 < w.received.size()) return replace(w, "the program wrote more than one line");
  if (w.sent < w.item->line.size()) return replace(w, "the program answered before it had read its line");
  w.received.resize(end);
  finish(w, {std::move(w.received), ""});
  w.received.clear();
}

// False when all is done and the end was asked for.
bool CommandWorkers::State::hand_out() {
  for (Worker& w : worker) {
    if (w.item != nullptr) continue;
    std::unique_ptr<Item> item;
    {
      const std::lock_guard lock(mutex);
      if (waiting.empty()) break;
      item = std::move(waiting.front());
      waiting.pop_front();
    }
    start_item(w, std::move(item));
  }
  const std::lock_guard lock(mutex);
  return !ending;
}

void CommandWorkers::State::wait_and_serve() {
  std::vector<pollfd> watched = {{wake, POLLIN, 0}};
  std::vector<Worker*> owner = {nullptr};
  Clock::time_point next = Clock::now() + std::chrono::milliseconds(kLongWaitMs);
  for (Worker& w : worker) {
    if (w.child == nullptr) continue;
    watched.push_back({w.child->output(), POLLIN, 0});
    owner.push_back(&w);
    if (w.item != nullptr) next = std::min(next, w.deadline);
    if (w.item != nullptr && w.sent < w.item->line.size()) {
      watched.push_back({w.child->input(), POLLOUT, 0});
      owner.push_back(&w);
    }
  }
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - Clock::now()).count();
  ::poll(watched.data(), watched.size(), static_cast<int>(std::max<std::int64_t>(0, left)));
  if (watched[0].revents != 0) {
    std::uint64_t count = 0;
    (void)!::read(wake, &count, sizeof count);
  }
  for (std::size_t i = 1; i < watched.size(); ++i) {
    Worker& w = *owner[i];
    if (watched[i].revents == 0 || w.child == nullptr) continue;
    if (watched[i].fd == w.child->output()) {
      read_from(w);
    } else if (watched[i].fd == w.child->input()) {
      write_to(w);
    }
  }
  for (Worker& w : worker) {
    if (w.item != nullptr && Clock::now() >= w.deadline)
      replace(w, fmt::format("the program gave no answer within {} s", timeout_s));
  }
}

void CommandWorkers::State::end_all() {
  for (Worker& w : worker) {
    if (w.child != nullptr) w.child->close_input();
  }
  const auto limit = Clock::now() + kGrace;
  const auto any_left = [this] {
    bool left = false;
    for (Worker& w : worker) left = left || (w.child != nullptr && !w.child->has_ended());
    return left;
  };
  while (any_left() && Clock::now() < limit) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  for (Worker& w : worker) {
    finish(w, {"", "the verifier was ended"});
    w.child.reset();
  }
}

void CommandWorkers::keep(const std::shared_ptr<State>& state) {
  while (state->hand_out()) state->wait_and_serve();
  state->end_all();
}

CommandWorkers::CommandWorkers(ChildProgram program, std::shared_ptr<const Broker> broker, std::int64_t workers,
                               double timeout_s)
    : state_(std::make_shared<State>()) {
  state_->program = std::move(program);
  state_->broker = std::move(broker);
  state_->timeout_s = timeout_s;
  state_->timeout = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(timeout_s));
  state_->worker = std::vector<Worker>(static_cast<std::size_t>(workers));
  state_->wake = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (state_->wake < 0) throw Error(ExitCode::os, fmt::format("eventfd: {}", std::strerror(errno)));
  sigset_t all, before;
  ::sigfillset(&all);  // signals are for the main thread; a broken pipe is an error code here
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  state_->keeper = std::thread([state = state_] { keep(state); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

CommandWorkers::~CommandWorkers() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->ending = true;
  }
  const std::uint64_t one = 1;
  (void)!::write(state_->wake, &one, sizeof one);
  state_->keeper.join();
}

CommandWorkers::Answer CommandWorkers::ask(std::string line) { return ask_later(std::move(line)).get(); }

std::future<CommandWorkers::Answer> CommandWorkers::ask_later(std::string line) {
  auto item = std::make_unique<Item>();
  item->line = std::move(line) + '\n';
  std::future<Answer> answer = item->answer.get_future();
  {
    const std::lock_guard lock(state_->mutex);
    state_->waiting.push_back(std::move(item));
  }
  const std::uint64_t one = 1;
  (void)!::write(state_->wake, &one, sizeof one);
  return answer;
}

std::int64_t CommandWorkers::replaced() const {
  const std::lock_guard lock(state_->mutex);
  return state_->replaced;
}

}  // namespace maxplus
