// Drawing graphs; see the header.
#include "data/graph_paths.hpp"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "data/counter_task.hpp"

namespace maxplus {

namespace {

constexpr int kTriesForDistantEnds = 8;

// Nodes are letters.
struct DrawnGraph {
  std::string nodes;
  std::vector<std::pair<char, char>> edges;
  char from = 'a', to = 'a';

  bool has_edge(char a, char b) const {
    return std::any_of(edges.begin(), edges.end(),
                       [a, b](const auto& edge) { return edge == std::pair(a, b) || edge == std::pair(b, a); });
  }
  std::string neighbours(char node) const {
    std::string found;
    for (const auto& [a, b] : edges) {
      if (a == node) found += b;
      if (b == node) found += a;
    }
    return found;
  }
};

std::string written_path(std::string_view path) { return fmt::format("{}", fmt::join(path, "-")); }

// Breadth first, every node with the new ones that it leads to: "a:bc; b:d; ".
std::string worked_search(const DrawnGraph& graph, Draws& draws, double slip) {
  std::string text, queue(1, graph.from);
  std::vector<std::pair<char, char>> came_from;  // node, and the one before it
  const auto seen = [&](char node) { return queue.find(node) != std::string::npos; };
  for (std::size_t next = 0; next < queue.size() && !seen(graph.to); ++next) {
    std::string found;
    const auto lead_to = [&](char node) {
      if (seen(node)) return;
      queue += node;
      found += node;
      came_from.emplace_back(node, queue[next]);
    };
    if (draws.unit() < slip) lead_to(graph.nodes[draws.below(graph.nodes.size())]);  // an edge that may not be there
    for (const char node : graph.neighbours(queue[next])) lead_to(node);
    text += fmt::format("{}:{}; ", queue[next], found);
  }
  std::string path(1, graph.to);
  while (path.back() != graph.from) {
    path += std::find_if(came_from.begin(), came_from.end(), [&](const auto& step) {
              return step.first == path.back();
            })->second;
  }
  std::reverse(path.begin(), path.end());
  return text + in_answer_tag(written_path(path));
}

// A tree, edges beyond it, and two ends that have none between them if a few tries find such.
DrawnGraph drawn_graph(std::int64_t nodes, std::int64_t extra_edges, Draws& draws) {
  DrawnGraph graph;
  std::vector<char> names;
  for (std::int64_t i = 0; i < nodes; ++i) names.push_back(static_cast<char>('a' + i));
  draws.shuffle(names);
  graph.nodes.assign(names.begin(), names.end());
  for (std::size_t i = 1; i < names.size(); ++i) graph.edges.emplace_back(names[draws.below(i)], names[i]);
  const auto two_nodes = [&] {
    const std::size_t a = draws.below(names.size()), step = 1 + draws.below(names.size() - 1);
    return std::pair(names[a], names[(a + step) % names.size()]);
  };
  for (std::int64_t i = 0; i < extra_edges; ++i) {
    const auto [a, b] = two_nodes();
    if (!graph.has_edge(a, b)) graph.edges.emplace_back(a, b);
  }
  for (auto& [a, b] : graph.edges) {
    if (draws.below(2) == 0) std::swap(a, b);
  }
  draws.shuffle(graph.edges);
  for (int attempt = 0; attempt < kTriesForDistantEnds; ++attempt) {
    std::tie(graph.from, graph.to) = two_nodes();
    if (!graph.has_edge(graph.from, graph.to)) break;
  }
  return graph;
}

std::string identity_of(const DrawnGraph& graph) {
  std::vector<std::string> parts;
  for (const auto& [a, b] : graph.edges) parts.push_back(fmt::format("{}{}", std::min(a, b), std::max(a, b)));
  std::sort(parts.begin(), parts.end());
  return fmt::format("{} {}{}", fmt::join(parts, " "), std::min(graph.from, graph.to), std::max(graph.from, graph.to));
}

class GraphProblems final : public CounterProblems {
 public:
  GraphProblems(Range nodes, std::int64_t extra_edges, bool shortest)
      : nodes_(nodes), extra_edges_(extra_edges), shortest_(shortest) {}
  std::string_view name() const override { return "graph_paths"; }
  std::string settings() const override {
    return fmt::format("{} {} {} {}", nodes_.low, nodes_.high, extra_edges_, shortest_);
  }
  CounterProblem draw(Draws& draws) const override {
    const std::int64_t nodes = draws.between(nodes_.low, nodes_.high);
    const DrawnGraph graph = drawn_graph(nodes, extra_edges_, draws);
    std::string edges;
    Json given = Json::array();
    for (const auto& [a, b] : graph.edges) {
      edges += fmt::format("{}{}-{}", edges.empty() ? "" : " ", a, b);
      given.push_back({std::string(1, a), std::string(1, b)});
    }
    CounterProblem problem;
    problem.prompt = fmt::format("{}: {} {} {}=", edges, shortest_ ? "shortest" : "path", graph.from, graph.to);
    problem.identity = identity_of(graph);
    problem.difficulty = nodes;
    problem.answer = Json::object();
    problem.answer["edges"] = std::move(given);
    problem.answer["from"] = std::string(1, graph.from);
    problem.answer["to"] = std::string(1, graph.to);
    if (shortest_) problem.answer["shortest"] = true;
    problem.worked = [graph](Draws& d, double slip) { return worked_search(graph, d, slip); };
    return problem;
  }

 private:
  Range nodes_;
  std::int64_t extra_edges_;
  bool shortest_;
};

}  // namespace

std::shared_ptr<const Task> make_graph_paths_task(KeyReader& keys, std::shared_ptr<const Tokenizer> tokenizer) {
  const Range nodes = read_range(keys, "nodes", {4, 7}, {3, 26}, "nodes of a graph");
  const std::int64_t extra = keys.integer("extra_edges", 2, 0, 100, "edges beyond those of a tree, drawn so often");
  const std::string ask = keys.choice("ask", "any", {"any", "shortest"}, "which path is asked for");
  return make_counter_task(keys, std::move(tokenizer),
                           std::make_shared<GraphProblems>(nodes, extra, ask == "shortest"));
}

}  // namespace maxplus
