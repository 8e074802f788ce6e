#include "io/fault_hook.hpp"

#include <atomic>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"

namespace maxplus {

namespace {

struct PlannedFault {
  std::string text, phase, action;
  int rank = -1;
  std::int64_t count = 0;
  double seconds = 1.0;
  bool readable = true;
};

template <class T>
bool parse(std::string_view text, T& value) {
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  return code == std::errc() && end == text.data() + text.size();
}

PlannedFault planned_fault() {
  PlannedFault plan;
  const char* text = std::getenv("MAXPLUS_FAULT");
  if (text == nullptr) return plan;
  plan.text = text;
  std::vector<std::string> field(1);
  for (const char c : plan.text) {
    if (c == ':')
      field.emplace_back();
    else
      field.back() += c;
  }
  plan.readable = field.size() == 4 && parse(field[1], plan.rank) && parse(field[2], plan.count);
  if (!plan.readable) return plan;
  plan.phase = field[0];
  plan.action = field[3];
  if (plan.action.rfind("delay=", 0) == 0) {
    plan.readable = parse(std::string_view(plan.action).substr(6), plan.seconds);
    plan.action = "delay";
  }
  plan.readable = plan.readable &&
                  (plan.action == "kill" || plan.action == "stop" || plan.action == "error" || plan.action == "delay");
  return plan;
}

void strike(const PlannedFault& plan) {
  if (plan.action == "kill") std::raise(SIGKILL);
  if (plan.action == "stop") std::raise(SIGSTOP);
  if (plan.action == "delay") std::this_thread::sleep_for(std::chrono::duration<double>(plan.seconds));
  if (plan.action == "error") {
    throw Error(ExitCode::io, Fault{"", fmt::format("injected fault '{}'", plan.text), "", "unset MAXPLUS_FAULT"});
  }
}

}  // namespace

void fault_point(const char* phase, int rank) {
  const char* text = std::getenv("MAXPLUS_FAULT");
  if (text == nullptr || *text == 0) return;
  static const PlannedFault plan = planned_fault();  // read once, at the first point reached with the variable set
  if (!plan.readable) {
    throw Error(ExitCode::config, Fault{"", fmt::format("MAXPLUS_FAULT = '{}'", plan.text),
                                        "phase:rank:count:action with the action kill, stop, error or delay[=seconds]",
                                        "unset the variable, which is for tests"});
  }
  if (rank != plan.rank || plan.phase != phase) return;
  static std::atomic<std::int64_t> arrivals{0};
  if (arrivals.fetch_add(1) + 1 == plan.count) strike(plan);
}

}  // namespace maxplus
