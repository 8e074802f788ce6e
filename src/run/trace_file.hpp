#pragma once
// The text of trace.json: spans of all ranks as Chrome trace events, and arrows along the mailboxes between them.
//
// pid = rank, one track a role and stage. An arrow goes from the span that made something to the span that took it.

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

namespace maxplus {

struct TraceTrack {
  std::string role, stage;
};

struct TraceSpan {
  std::int64_t track = 0;  // of its rank
  std::int64_t iteration = 0, begin_ns = 0, end_ns = 0;
};

struct TracedRank {
  std::vector<TraceTrack> tracks;
  std::vector<TraceSpan> spans;
};

// What spans of one stage hand to spans of another.
struct TraceMailbox {
  std::string name;
  TraceTrack from, to;     // without a role: of any
  std::int64_t lag = 0;    // what iteration k takes was made in iteration k - lag, and the first ones' in iteration 0
  std::vector<int> giver;  // of each rank: on whose rank it was made
};

void write_trace(std::ostream& out, const std::vector<TracedRank>& ranks, const std::vector<TraceMailbox>& mailboxes);

}  // namespace maxplus
