#include "plan/critical_path.hpp"

#include <algorithm>
#include <optional>

namespace maxplus {

namespace {

// The event that another waited for: of those that end last the first in the order of the arcs.
std::optional<CriticalPath::Event> waited_for(const EventGraph& graph, const Timeline& line,
                                              const CriticalPath::Event& event) {
  std::optional<CriticalPath::Event> found;
  double last = 0;
  for (const EventGraph::Arc& arc : graph.arcs()) {
    const auto tokens = static_cast<std::size_t>(arc.tokens);
    if (arc.to != event.node || tokens > event.step) continue;
    const double end = line.end[event.step - tokens][static_cast<std::size_t>(arc.from)];
    if (found && !(end > last)) continue;
    last = end;
    found = CriticalPath::Event{arc.from, event.step - tokens};
  }
  return found;
}

}  // namespace

CriticalPath critical_path(const EventGraph& graph, const Timeline& line) {
  CriticalPath path;
  path.seconds.assign(static_cast<std::size_t>(graph.nodes()), 0.0);
  std::optional<CriticalPath::Event> event;
  for (std::size_t step = 0; step < line.end.size(); ++step) {
    for (int node = 0; node < graph.nodes(); ++node) {
      const double end = line.end[step][static_cast<std::size_t>(node)];
      if (!event || end > line.end[event->step][static_cast<std::size_t>(event->node)])
        event = CriticalPath::Event{node, step};
    }
  }
  for (; event; event = waited_for(graph, line, *event)) {
    const auto node = static_cast<std::size_t>(event->node);
    path.events.push_back(*event);
    path.seconds[node] += line.end[event->step][node] - line.begin[event->step][node];
  }
  std::reverse(path.events.begin(), path.events.end());
  return path;
}

StepTimes spare_seconds(const EventGraph& graph, const Timeline& line) {
  const double makespan = line.makespan();
  const std::size_t steps = line.end.size();
  const std::vector<int> order = graph.order();
  StepTimes latest(steps, std::vector<double>(static_cast<std::size_t>(graph.nodes()), makespan));  // end
  StepTimes spare = latest;
  for (std::size_t step = steps; step-- > 0;) {
    for (auto at = order.rbegin(); at != order.rend(); ++at) {
      const auto node = static_cast<std::size_t>(*at);
      for (const EventGraph::Arc& arc : graph.arcs()) {
        const std::size_t later = step + static_cast<std::size_t>(arc.tokens);
        if (arc.from != *at || later >= steps) continue;
        const auto to = static_cast<std::size_t>(arc.to);
        latest[step][node] =
            std::min(latest[step][node], latest[later][to] - (line.end[later][to] - line.begin[later][to]));
      }
      spare[step][node] = std::max(0.0, latest[step][node] - line.end[step][node]);
    }
  }
  return spare;
}

}  // namespace maxplus
