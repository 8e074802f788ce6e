#include "run/trace.hpp"

#include <chrono>
#include <fstream>
#include <map>
#include <span>

#include <fmt/format.h>

#include "base/error.hpp"

namespace maxplus {

namespace {

constexpr std::size_t kMostEvents = 200000;  // a rank; later spans of a very long run are not kept

std::int64_t clock_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

Trace::Trace(const Communicator& world) {
  world.barrier();
  start_ns_ = clock_ns();
}

std::int64_t Trace::now_ns() const { return clock_ns() - start_ns_; }

Trace::Span::Span(Trace& trace, const char* role, const char* stage, std::int64_t iteration)
    : trace_(trace), role_(role), stage_(stage), iteration_(iteration), begin_ns_(trace.now_ns()) {}

Trace::Span::~Span() {
  if (trace_.events_.size() < kMostEvents)
    trace_.events_.push_back({role_, stage_, iteration_, begin_ns_, trace_.now_ns()});
}

void Trace::write(const std::string& path, const Communicator& world) const {
  // Each rank makes the text of its own events; rank 0 puts them together.
  std::map<std::string, int> tracks;
  std::string mine;
  for (const Event& event : events_) {
    const std::string track = fmt::format("{}: {}", event.role, event.stage);
    const int number = tracks.try_emplace(track, static_cast<int>(tracks.size()) + 1).first->second;
    mine += fmt::format(
        R"(,{{"name":"{}","cat":"{}","ph":"X","pid":{},"tid":{},"ts":{:.3f},"dur":{:.3f},"args":{{"iteration":{}}}}})",
        event.stage, event.role, world.rank(), number, 1e-3 * static_cast<double>(event.begin_ns),
        1e-3 * static_cast<double>(event.end_ns - event.begin_ns), event.iteration);
    mine += '\n';
  }
  for (const auto& [name, number] : tracks) {
    mine += fmt::format(R"(,{{"name":"thread_name","ph":"M","pid":{},"tid":{},"args":{{"name":"{}"}}}}
)",
                        world.rank(), number, name);
  }
  mine += fmt::format(R"(,{{"name":"process_name","ph":"M","pid":{},"args":{{"name":"rank {}"}}}}
)",
                      world.rank(), world.rank());
  const auto parts = world.gather_all(std::as_bytes(std::span<const char>(mine.data(), mine.size())));
  if (world.rank() != 0) return;
  std::ofstream file(path, std::ios::binary);
  bool first = true;
  file << "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n";
  for (const std::vector<std::byte>& part : parts) {
    const std::string_view text(reinterpret_cast<const char*>(part.data()), part.size());
    file << (first ? text.substr(1) : text);  // without the comma in front of the first event
    first = false;
  }
  file << "]}\n";
  file.close();
  if (!file) throw Error(ExitCode::io, Fault{path, "could not be written", "room on the disk", ""});
}

}  // namespace maxplus
