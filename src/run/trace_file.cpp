#include "run/trace_file.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace maxplus {

namespace {

double microseconds(std::int64_t ns) { return 1e-3 * static_cast<double>(ns); }

// Events separated by commas.
class TraceWriter {
 public:
  explicit TraceWriter(std::ostream& out) : out_(out) { out_ << "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n"; }
  void add(const std::string& event) {
    out_ << (first_ ? "" : ",") << event << '\n';
    first_ = false;
  }
  void end() { out_ << "]}\n"; }

 private:
  std::ostream& out_;
  bool first_ = true;
};

void write_rank(TraceWriter& out, int rank, const TracedRank& traced) {
  for (const TraceSpan& span : traced.spans) {
    const TraceTrack& track = traced.tracks[static_cast<std::size_t>(span.track)];
    out.add(fmt::format(
        R"({{"name":"{}","cat":"{}","ph":"X","pid":{},"tid":{},"ts":{:.3f},"dur":{:.3f},"args":{{"iteration":{}}}}})",
        track.stage, track.role, rank, span.track + 1, microseconds(span.begin_ns),
        microseconds(span.end_ns - span.begin_ns), span.iteration));
  }
  for (std::size_t t = 0; t < traced.tracks.size(); ++t) {
    out.add(fmt::format(R"({{"name":"thread_name","ph":"M","pid":{},"tid":{},"args":{{"name":"{}: {}"}}}})", rank,
                        t + 1, traced.tracks[t].role, traced.tracks[t].stage));
  }
  out.add(fmt::format(R"({{"name":"process_name","ph":"M","pid":{0},"args":{{"name":"rank {0}"}}}})", rank));
}

// Spans of a mailbox's sending stage by rank and iteration, in the order of time.
using SpansByIteration = std::map<std::pair<int, std::int64_t>, std::vector<const TraceSpan*>>;

SpansByIteration spans_of(const std::vector<TracedRank>& ranks, const TraceTrack& wanted) {
  SpansByIteration spans;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    for (const TraceSpan& span : ranks[r].spans) {
      const TraceTrack& track = ranks[r].tracks[static_cast<std::size_t>(span.track)];
      if (track.stage == wanted.stage && (wanted.role.empty() || track.role == wanted.role))
        spans[{static_cast<int>(r), span.iteration}].push_back(&span);
    }
  }
  return spans;
}

// A moment inside a span near one of its ends, so that a viewer finds the span that is meant.
std::int64_t inner_ns(const TraceSpan& span) { return std::min<std::int64_t>(1000, (span.end_ns - span.begin_ns) / 2); }

void write_arrow(TraceWriter& out, const std::string& name, std::int64_t number, int from_rank, const TraceSpan& from,
                 int to_rank, const TraceSpan& to) {
  std::int64_t start = from.end_ns - inner_ns(from);
  const bool waited = to.begin_ns + inner_ns(to) >= start;  // else it took while the other still made
  const std::int64_t finish = waited ? to.begin_ns + inner_ns(to) : to.end_ns - inner_ns(to);
  start = std::max(from.begin_ns, std::min(start, finish));
  out.add(fmt::format(R"({{"name":"{}","cat":"mailbox","ph":"s","id":{},"pid":{},"tid":{},"ts":{:.3f}}})", name, number,
                      from_rank, from.track + 1, microseconds(start)));
  out.add(fmt::format(R"({{"name":"{}","cat":"mailbox","ph":"f","bp":"e","id":{},"pid":{},"tid":{},"ts":{:.3f}}})",
                      name, number, to_rank, to.track + 1, microseconds(finish)));
}

}  // namespace

void write_trace(std::ostream& out, const std::vector<TracedRank>& ranks, const std::vector<TraceMailbox>& mailboxes) {
  TraceWriter writer(out);
  for (std::size_t r = 0; r < ranks.size(); ++r) write_rank(writer, static_cast<int>(r), ranks[r]);
  std::int64_t arrows = 0;
  for (const TraceMailbox& mailbox : mailboxes) {
    const SpansByIteration made = spans_of(ranks, mailbox.from);
    for (const auto& [place, takers] : spans_of(ranks, mailbox.to)) {
      const int giver = mailbox.giver[static_cast<std::size_t>(place.first)];
      const auto found = made.find({giver, std::max<std::int64_t>(0, place.second - mailbox.lag)});
      if (found == made.end()) continue;
      for (const TraceSpan* taker : takers) {
        // Of several rounds the last that had begun before the end.
        const TraceSpan* from = nullptr;
        for (const TraceSpan* span : found->second) {
          if (span->begin_ns < taker->end_ns || (from == nullptr && span->begin_ns == taker->end_ns)) from = span;
        }
        if (from != nullptr) write_arrow(writer, mailbox.name, ++arrows, giver, *from, place.first, *taker);
      }
    }
  }
  writer.end();
}

}  // namespace maxplus
