#pragma once
// A timed event graph: nodes that take time, arcs with tokens. Step s of a node begins when step s - m of every node
// before it has ended, m being the tokens of the arc between them; steps before the first have ended at time 0.
//
//   begin(v, s) = max over arcs u -> v of end(u, s - m)      end(v, s) = begin(v, s) + w(v, s)      (max,+)
//
// In the long run a step takes the maximum cycle mean: of all cycles, the largest sum of w over the sum of m.

#include <cstdint>
#include <span>
#include <vector>

namespace maxplus {

// Seconds of every node in every step, [step][node].
using StepTimes = std::vector<std::vector<double>>;

struct Timeline {
  StepTimes begin, end;
  double makespan() const;  // when the last of all ends
};

class EventGraph {
 public:
  struct Arc {
    int from = 0, to = 0;
    std::int64_t tokens = 0;
  };

  explicit EventGraph(int nodes) : nodes_(nodes) {}
  void add(int from, int to, std::int64_t tokens);

  int nodes() const { return nodes_; }
  std::span<const Arc> arcs() const { return arcs_; }

  // The nodes of a step, none before what it waits for in this step; where several may come, the lowest number first.
  // Every cycle must have a token.
  std::vector<int> order() const;

  Timeline evaluate(const StepTimes& times) const;

  // The cycle that bounds the steady state, and its mean; without any cycle no nodes, and 0.
  struct Cycle {
    double period = 0;
    std::vector<int> nodes;
  };
  Cycle slowest_cycle(const std::vector<double>& times) const;

 private:
  int nodes_;
  std::vector<Arc> arcs_;
};

}  // namespace maxplus
