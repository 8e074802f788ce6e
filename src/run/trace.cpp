#include "run/trace.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>
#include <limits>
#include <map>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/strings.hpp"

namespace maxplus {

namespace {

constexpr int kRoundsOfClocks = 8;
constexpr std::size_t kMostEvents = 200000;  // a rank; later spans of a very long run are not kept

std::int64_t clock_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// What this rank's clock shows beyond rank 0's, in ns (collective). A time that travels arrives later than it was read:
// rank 0's times bound the difference from above, this rank's from below (F. Cristian, Distributed Computing 3, 1989).
std::int64_t clock_lead_ns(const Communicator& world) {
  std::int64_t below = std::numeric_limits<std::int64_t>::min(), above = std::numeric_limits<std::int64_t>::max();
  for (int round = 0; round < kRoundsOfClocks; ++round) {
    std::int64_t told = clock_ns();
    world.broadcast(&told, sizeof told, 0);
    above = std::min(above, clock_ns() - told);

    const std::int64_t mine = clock_ns();
    world.gather_all(std::as_bytes(std::span(&mine, 1)));
    std::int64_t heard = clock_ns();  // on rank 0 after all had sent
    world.broadcast(&heard, sizeof heard, 0);
    below = std::max(below, mine - heard);
  }
  if (below <= 0 && above >= 0) return 0;  // ranks of one node read one clock
  return below + (above - below) / 2;
}

}  // namespace

Trace::Trace(const Communicator& world) {
  const std::int64_t lead = clock_lead_ns(world);
  std::int64_t start = clock_ns();
  world.broadcast(&start, sizeof start, 0);
  start_ns_ = start + lead;
}

std::int64_t Trace::now_ns() const { return clock_ns() - start_ns_; }

Trace::Span::Span(Trace& trace, const char* role, const char* stage, std::int64_t iteration)
    : trace_(trace), role_(role), stage_(stage), iteration_(iteration), begin_ns_(trace.now_ns()) {}

Trace::Span::~Span() {
  if (trace_.events_.size() < kMostEvents)
    trace_.events_.push_back({role_, stage_, iteration_, begin_ns_, trace_.now_ns()});
}

void Trace::write(const std::string& path, const Communicator& world,
                  const std::vector<TraceMailbox>& mailboxes) const {
  // Each rank tells the names of its tracks and its spans; rank 0 makes the text.
  std::map<std::pair<std::string, std::string>, std::int64_t> numbers;
  std::string names;
  std::vector<TraceSpan> spans;
  for (const Event& event : events_) {
    const auto [found, is_new] =
        numbers.try_emplace({event.role, event.stage}, static_cast<std::int64_t>(numbers.size()));
    if (is_new) names += fmt::format("{}\n{}\n", event.role, event.stage);
    spans.push_back({found->second, event.iteration, event.begin_ns, event.end_ns});
  }
  const auto all_names = world.gather_all(std::as_bytes(std::span<const char>(names.data(), names.size())));
  const auto all_spans = world.gather_all(std::as_bytes(std::span<const TraceSpan>(spans)));
  if (world.rank() != 0) return;
  std::vector<TracedRank> ranks(all_names.size());
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    const std::vector<std::string> words =
        split({reinterpret_cast<const char*>(all_names[r].data()), all_names[r].size()}, '\n');
    for (std::size_t w = 0; w + 1 < words.size(); w += 2) ranks[r].tracks.push_back({words[w], words[w + 1]});
    ranks[r].spans.resize(all_spans[r].size() / sizeof(TraceSpan));
    if (!all_spans[r].empty()) std::memcpy(ranks[r].spans.data(), all_spans[r].data(), all_spans[r].size());
  }
  std::ofstream file(path, std::ios::binary);
  write_trace(file, ranks, mailboxes);
  file.close();
  if (!file) throw Error(ExitCode::io, Fault{path, "could not be written", "room on the disk", ""});
}

}  // namespace maxplus
