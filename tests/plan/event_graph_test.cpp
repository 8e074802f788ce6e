// Evaluation against the naive unrolling of a graph, the period against long runs, critical path and spare time by their
// definitions.
#include "plan/event_graph.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include <gtest/gtest.h>

#include "base/random.hpp"
#include "plan/critical_path.hpp"

namespace maxplus {
namespace {

constexpr double kRounding = 1e-9;  // sums of some hundred numbers near 1

// Numbers in [0, 1) by place, the same in every run.
class GraphNumbers {
 public:
  explicit GraphNumbers(std::uint32_t seed) : seed_(seed) {}
  double next() { return uniform_double(seed_, Purpose::test, 0, place_++); }
  int below(int n) { return static_cast<int>(next() * n); }

 private:
  std::uint32_t seed_;
  std::uint32_t place_ = 0;
};

// A graph in which every cycle has a token: arcs without one go from lower to higher numbers of a random order.
EventGraph random_graph(GraphNumbers& numbers, int nodes) {
  EventGraph graph(nodes);
  std::vector<int> order(static_cast<std::size_t>(nodes));
  std::iota(order.begin(), order.end(), 0);
  for (int i = nodes - 1; i > 0; --i)
    std::swap(order[static_cast<std::size_t>(i)], order[static_cast<std::size_t>(numbers.below(i + 1))]);
  for (int i = 0; i < nodes; ++i) {
    graph.add(i, i, 1);
    for (int j = 0; j < nodes; ++j) {
      if (numbers.next() < 0.6) continue;
      graph.add(order[static_cast<std::size_t>(i)], order[static_cast<std::size_t>(j)],
                numbers.below(3) + (i < j ? 0 : 1));
    }
  }
  return graph;
}

StepTimes random_times(GraphNumbers& numbers, int nodes, int steps) {
  StepTimes times(static_cast<std::size_t>(steps));
  for (auto& step : times) {
    for (int node = 0; node < nodes; ++node) step.push_back(numbers.next());
  }
  return times;
}

// Ends by repeating the definition until nothing moves, whatever the order.
StepTimes unrolled(const EventGraph& graph, const StepTimes& times) {
  StepTimes end = times;
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t step = times.size(); step-- > 0;) {
      for (const EventGraph::Arc& arc : graph.arcs()) {
        if (static_cast<std::size_t>(arc.tokens) > step) continue;
        const auto from = static_cast<std::size_t>(arc.from), to = static_cast<std::size_t>(arc.to);
        const double least = end[step - static_cast<std::size_t>(arc.tokens)][from] + times[step][to];
        if (!(least > end[step][to])) continue;
        end[step][to] = least;
        moved = true;
      }
    }
  }
  return end;
}

double makespan_of(const EventGraph& graph, const std::vector<double>& times, int steps) {
  return graph.evaluate(StepTimes(static_cast<std::size_t>(steps), times)).makespan();
}

TEST(EventGraph, IsEvaluatedAsItsDefinitionUnrolled) {
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    GraphNumbers numbers(seed);
    const int nodes = 1 + numbers.below(7);
    const EventGraph graph = random_graph(numbers, nodes);
    const StepTimes times = random_times(numbers, nodes, 9);
    EXPECT_EQ(graph.evaluate(times).end, unrolled(graph, times)) << seed;
  }
}

TEST(EventGraph, TakesThePeriodOfALongRun) {
  constexpr int kSteps = 60;
  for (std::uint32_t seed = 100; seed < 130; ++seed) {
    GraphNumbers numbers(seed);
    const int nodes = 2 + numbers.below(6);
    const EventGraph graph = random_graph(numbers, nodes);
    const std::vector<double> times = random_times(numbers, nodes, 1)[0];
    const EventGraph::Cycle cycle = graph.slowest_cycle(times);
    ASSERT_FALSE(cycle.nodes.empty());
    // Cycles of at most 7 * 3 tokens repeat within the span between the two lengths, which some of them divide.
    const double period = (makespan_of(graph, times, 8 * kSteps) - makespan_of(graph, times, kSteps)) / (7 * kSteps);
    const double sum = std::accumulate(times.begin(), times.end(), 0.0);
    EXPECT_NEAR(cycle.period, period, sum / (7 * kSteps)) << seed;
    EXPECT_LE(cycle.period * (8 * kSteps - 1), makespan_of(graph, times, 8 * kSteps) + sum) << seed;
  }
}

TEST(EventGraph, HasACriticalPathWithoutGapsAndWithoutSpareTime) {
  for (std::uint32_t seed = 300; seed < 330; ++seed) {
    GraphNumbers numbers(seed);
    const int nodes = 1 + numbers.below(7);
    const EventGraph graph = random_graph(numbers, nodes);
    const StepTimes times = random_times(numbers, nodes, 9);
    const Timeline line = graph.evaluate(times);
    const CriticalPath path = critical_path(graph, line);
    const StepTimes spare = spare_seconds(graph, line);
    double now = 0;
    for (const CriticalPath::Event& event : path.events) {
      const auto node = static_cast<std::size_t>(event.node);
      EXPECT_EQ(line.begin[event.step][node], now) << seed;
      now = line.end[event.step][node];
      EXPECT_NEAR(spare[event.step][node], 0, kRounding) << seed;
    }
    EXPECT_EQ(now, line.makespan()) << seed;
    EXPECT_NEAR(std::accumulate(path.seconds.begin(), path.seconds.end(), 0.0), now, kRounding) << seed;
    // What is spare may be used, and not more.
    const std::pair<std::size_t, int> some[] = {{2, 0}, {4, nodes - 1}, {8, nodes / 2}};
    for (const auto& [step, node] : some) {
      StepTimes longer = times;
      longer[step][static_cast<std::size_t>(node)] += spare[step][static_cast<std::size_t>(node)];
      EXPECT_NEAR(graph.evaluate(longer).makespan(), now, kRounding) << seed;
      longer[step][static_cast<std::size_t>(node)] += 0.25;
      EXPECT_NEAR(graph.evaluate(longer).makespan(), now + 0.25, kRounding) << seed;
    }
  }
}

TEST(EventGraph, OrdersAStepAlongItsArcsAndElseByNumber) {
  EventGraph graph(4);
  graph.add(3, 0, 0);
  graph.add(0, 3, 1);
  EXPECT_EQ(graph.order(), (std::vector<int>{1, 2, 3, 0}));
  graph.add(0, 1, 0);
  EXPECT_EQ(graph.order(), (std::vector<int>{2, 3, 0, 1}));
  graph.add(1, 3, 0);
  EXPECT_THROW(graph.order(), std::exception) << "a cycle without a token never begins";
}

TEST(EventGraph, WithoutStepsCyclesOrTimeIsEmpty) {
  EventGraph graph(2);
  graph.add(0, 1, 0);
  EXPECT_EQ(graph.evaluate({}).makespan(), 0);
  EXPECT_TRUE(critical_path(graph, graph.evaluate({})).events.empty());
  EXPECT_TRUE(graph.slowest_cycle({1, 2}).nodes.empty());
  graph.add(1, 0, 1);
  EXPECT_EQ(graph.slowest_cycle({0, 0}).period, 0);
  EXPECT_EQ(graph.slowest_cycle({1, 2}).period, 3);
}

}  // namespace
}  // namespace maxplus
