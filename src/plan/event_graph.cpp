#include "plan/event_graph.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/error.hpp"

namespace maxplus {

namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// Differences below this share of all times together are rounding.
double rounding_of(const std::vector<double>& times) {
  double sum = 0;
  for (const double t : times) sum += std::abs(t);
  return 1e-12 * sum;
}

// Weight of an arc where a step takes `period`: positive around a cycle that is slower.
double reduced(const EventGraph::Arc& arc, const std::vector<double>& times, double period) {
  return times[at(arc.from)] - period * static_cast<double>(arc.tokens);
}

// Arcs of a cycle whose mean is above `period` (Bellman and Ford's relaxation, started from every node).
std::optional<std::vector<EventGraph::Arc>> slower_cycle(const EventGraph& graph, const std::vector<double>& times,
                                                         double period) {
  const double tolerance = rounding_of(times);
  std::vector<double> longest(at(graph.nodes()), 0.0);
  std::vector<const EventGraph::Arc*> last(at(graph.nodes()), nullptr);
  int moved = -1;
  for (int round = 0; round <= graph.nodes(); ++round) {
    moved = -1;
    for (const EventGraph::Arc& arc : graph.arcs()) {
      const double length = longest[at(arc.from)] + reduced(arc, times, period);
      if (!(length > longest[at(arc.to)] + tolerance)) continue;
      longest[at(arc.to)] = length;
      last[at(arc.to)] = &arc;
      moved = arc.to;
    }
    if (moved < 0) return std::nullopt;
  }
  // Back as many arcs as there are nodes: then surely on the cycle.
  for (int k = 0; k < graph.nodes(); ++k) moved = last[at(moved)]->from;
  std::vector<EventGraph::Arc> cycle;
  int node = moved;
  do {
    cycle.push_back(*last[at(node)]);
    node = cycle.back().from;
  } while (node != moved);
  std::reverse(cycle.begin(), cycle.end());
  return cycle;
}

}  // namespace

double Timeline::makespan() const {
  double last = 0;
  for (const std::vector<double>& step : end) {
    for (const double t : step) last = std::max(last, t);
  }
  return last;
}

void EventGraph::add(int from, int to, std::int64_t tokens) {
  MAXPLUS_REQUIRE(from >= 0 && from < nodes_ && to >= 0 && to < nodes_, "an arc between nodes of the graph");
  MAXPLUS_REQUIRE(tokens >= 0, "an arc waits for this step or for one before it");
  arcs_.push_back({from, to, tokens});
}

std::vector<int> EventGraph::order() const {
  std::vector<int> waits_for(at(nodes_), 0);
  for (const Arc& arc : arcs_) waits_for[at(arc.to)] += arc.tokens == 0 ? 1 : 0;
  std::vector<int> order;
  std::vector<bool> taken(at(nodes_), false);
  for (int k = 0; k < nodes_; ++k) {
    int next = 0;
    while (next < nodes_ && (taken[at(next)] || waits_for[at(next)] > 0)) ++next;
    MAXPLUS_REQUIRE(next < nodes_, "every cycle of an event graph needs a token");
    taken[at(next)] = true;
    order.push_back(next);
    for (const Arc& arc : arcs_) {
      if (arc.from == next && arc.tokens == 0) --waits_for[at(arc.to)];
    }
  }
  return order;
}

Timeline EventGraph::evaluate(const StepTimes& times) const {
  const std::vector<int> nodes = order();
  Timeline line;
  line.begin.assign(times.size(), std::vector<double>(at(nodes_), 0.0));
  line.end = line.begin;
  for (std::size_t step = 0; step < times.size(); ++step) {
    for (const int node : nodes) {
      double begin = 0;
      for (const Arc& arc : arcs_) {
        if (arc.to == node && at(arc.tokens) <= step)
          begin = std::max(begin, line.end[step - at(arc.tokens)][at(arc.from)]);
      }
      line.begin[step][at(node)] = begin;
      line.end[step][at(node)] = begin + times[step][at(node)];
    }
  }
  return line;
}

EventGraph::Cycle EventGraph::slowest_cycle(const std::vector<double>& times) const {
  order();  // every cycle has a token
  Cycle slowest;
  double period = -1;  // below any mean
  while (const auto cycle = slower_cycle(*this, times, period)) {
    double seconds = 0;
    std::int64_t tokens = 0;
    slowest.nodes.clear();
    for (const Arc& arc : *cycle) {
      seconds += times[at(arc.from)];
      tokens += arc.tokens;
      slowest.nodes.push_back(arc.from);
    }
    const double mean = seconds / static_cast<double>(tokens);
    if (!(mean > period)) break;  // no more than rounding
    period = slowest.period = mean;
  }
  return slowest;
}

}  // namespace maxplus
