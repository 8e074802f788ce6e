#pragma once
// What bounds a timeline: the chain of events without a gap from its start to its end, and how long everything beside
// it could have taken.

#include <cstdint>
#include <vector>

#include "plan/event_graph.hpp"

namespace maxplus {

struct CriticalPath {
  struct Event {
    int node = 0;
    std::size_t step = 0;
  };
  std::vector<Event> events;    // in the order of time
  std::vector<double> seconds;  // of every node on the path, over all steps; together the makespan
};
CriticalPath critical_path(const EventGraph& graph, const Timeline& line);

// [step][node]: how much later an event could have ended without moving the end of the whole; 0 on the critical path.
StepTimes spare_seconds(const EventGraph& graph, const Timeline& line);

}  // namespace maxplus
