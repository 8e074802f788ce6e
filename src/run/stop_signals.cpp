#include "run/stop_signals.hpp"

#include <unistd.h>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include <fmt/format.h>

namespace maxplus {

namespace {

volatile std::sig_atomic_t received = 0;

void on_signal(int number) {
  if (number == SIGINT && received == SIGINT) _exit(128 + SIGINT);
  if (received == 0) received = number;
}

double monotonic_s() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

bool only_digits(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

// "1-02:03:04", "02:03:04", "03:04" to seconds.
std::optional<double> parse_time_left(const std::string& text) {
  int days = 0, a = 0, b = 0, c = 0;
  if (std::sscanf(text.c_str(), "%d-%d:%d:%d", &days, &a, &b, &c) == 4)
    return days * 86400.0 + a * 3600.0 + b * 60.0 + c;
  if (std::sscanf(text.c_str(), "%d:%d:%d", &a, &b, &c) == 3) return a * 3600.0 + b * 60.0 + c;
  if (std::sscanf(text.c_str(), "%d:%d", &a, &b) == 2) return a * 60.0 + b;
  return std::nullopt;
}

}  // namespace

void install_stop_signals() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  for (int number : {SIGUSR1, SIGUSR2, SIGTERM, SIGINT}) sigaction(number, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
}

bool stop_requested() { return received != 0; }

std::string stop_signal() {
  switch (received) {
    case 0: return "";
    case SIGUSR1: return "SIGUSR1";
    case SIGUSR2: return "SIGUSR2";
    case SIGTERM: return "SIGTERM";
    case SIGINT: return "SIGINT";
    default: return fmt::format("signal {}", static_cast<int>(received));
  }
}

std::optional<double> scheduler_seconds_left() {
  if (const char* end = std::getenv("SLURM_JOB_END_TIME"); end != nullptr && only_digits(end)) {
    return std::strtod(end, nullptr) - static_cast<double>(std::time(nullptr));
  }
  const char* job = std::getenv("SLURM_JOB_ID");
  if (job == nullptr || !only_digits(job)) return std::nullopt;
  const std::string command = fmt::format("timeout 5 squeue -h -j {} -o %L 2>/dev/null", job);
  std::FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return std::nullopt;
  char line[128] = "";
  const bool got = std::fgets(line, sizeof line, pipe) != nullptr;
  ::pclose(pipe);
  return got ? parse_time_left(line) : std::nullopt;
}

WallLimit::WallLimit(double limit_min, std::optional<double> scheduler_s) {
  if (limit_min > 0) {
    deadline_s_ = monotonic_s() + 60.0 * limit_min;
  } else if (scheduler_s) {
    deadline_s_ = monotonic_s() + *scheduler_s;
  }
}

std::optional<double> WallLimit::seconds_left() const {
  if (!deadline_s_) return std::nullopt;
  return *deadline_s_ - monotonic_s();
}

bool WallLimit::reached(double longest_iteration_s, double checkpoint_s) const {
  const std::optional<double> left = seconds_left();
  return left && *left < 1.2 * longest_iteration_s + 2.0 * checkpoint_s + 2.0;
}

}  // namespace maxplus
