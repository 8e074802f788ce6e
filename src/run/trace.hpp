#pragma once
// Where the time of every rank went: spans of stages, written as Chrome trace events (trace.json opens in Perfetto).
//
// Clocks of ranks are aligned at the start: ranks of one node share a clock, others know its difference from rank 0's
// to half the time of a message, so that no arrow runs back in time.

#include <cstdint>
#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "run/trace_file.hpp"

namespace maxplus {

class Trace {
 public:
  // Collective: time 0 is one moment for all ranks.
  explicit Trace(const Communicator& world);

  // A span that ends with the object. `role` and `stage` are string literals.
  class Span {
   public:
    Span(Trace& trace, const char* role, const char* stage, std::int64_t iteration);
    ~Span();
    Span(const Span&) = delete;
    Span& operator=(const Span&) = delete;

   private:
    Trace& trace_;
    const char* role_;
    const char* stage_;
    std::int64_t iteration_, begin_ns_;
  };

  // Collective: rank 0 writes the spans of all ranks, and arrows along the mailboxes. Throws Error(io).
  void write(const std::string& path, const Communicator& world, const std::vector<TraceMailbox>& mailboxes) const;

 private:
  struct Event {
    const char* role;
    const char* stage;
    std::int64_t iteration, begin_ns, end_ns;
  };
  std::int64_t now_ns() const;

  std::int64_t start_ns_ = 0;
  std::vector<Event> events_;
};

}  // namespace maxplus
