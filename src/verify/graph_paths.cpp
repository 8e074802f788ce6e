// The verifier `graph_paths`: any path that the edges allow, and a shortest one where that is asked for.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "text/utf8.hpp"
#include "verify/all_verifiers.hpp"
#include "verify/extraction.hpp"

namespace maxplus {

const char* const kGraphPathsGrammar =
    "The problem gives \"edges\" (a list of pairs of nodes), \"from\" and \"to\", in its \"answer\" or beside it; "
    "nodes are "
    "texts or\n"
    "integers. \"directed\": true says that an edge leads from its first node to its second only, \"shortest\": true "
    "that "
    "no path\n"
    "with fewer edges counts. The answer taken is the inside of the last complete <answer>…</answer> of the response:\n"
    "    path = node { separator node }            separator = white space, \"-\", \",\", \"->\" or \"→\", several as "
    "one\n"
    "Correct: it begins at `from`, ends at `to`, has an edge between any two neighbours, and no node twice. No such "
    "tag or\n"
    "nothing in it: no_answer. Anything else: wrong. Edges or ends that cannot be read, or ends without any path "
    "between "
    "them:\n"
    "gold_unusable.";

namespace {

using Path = std::vector<std::string>;

struct GivenGraph {
  std::map<std::string, std::set<std::string>> leads_to;
  std::string from, to;
  bool shortest = false;
};

std::optional<std::string> node_of(const Json* value) {
  if (value == nullptr) return std::nullopt;
  if (value->is_number_integer()) return value->dump();
  if (!value->is_string() || trimmed(value->get_ref<const std::string&>()).empty()) return std::nullopt;
  return std::string(trimmed(value->get_ref<const std::string&>()));
}

bool says_true(const Problem& problem, const char* key) {
  const Json* value = find_given(problem, key);
  return value != nullptr && value->is_boolean() && value->get<bool>();
}

std::optional<GivenGraph> given_graph(const Problem& problem) {
  const Json* edges = find_given(problem, "edges");
  const auto from = node_of(find_given(problem, "from")), to = node_of(find_given(problem, "to"));
  if (edges == nullptr || !edges->is_array() || !from || !to) return std::nullopt;
  GivenGraph graph;
  graph.from = *from;
  graph.to = *to;
  graph.shortest = says_true(problem, "shortest");
  const bool directed = says_true(problem, "directed");
  for (const Json& edge : *edges) {
    if (!edge.is_array() || edge.size() != 2) return std::nullopt;
    const auto a = node_of(&edge[0]), b = node_of(&edge[1]);
    if (!a || !b) return std::nullopt;
    graph.leads_to[*a].insert(*b);
    if (!directed) graph.leads_to[*b].insert(*a);
  }
  return graph;
}

// Nodes of a shortest path, breadth first; nothing if there is none.
std::optional<std::size_t> fewest_nodes(const GivenGraph& graph) {
  std::map<std::string, std::size_t> nodes_to = {{graph.from, 1}};
  std::vector<std::string> queue = {graph.from};
  for (std::size_t next = 0; next < queue.size(); ++next) {
    const std::string node = queue[next];
    if (node == graph.to) return nodes_to[node];
    const auto edges = graph.leads_to.find(node);
    if (edges == graph.leads_to.end()) continue;
    for (const std::string& neighbour : edges->second) {
      if (nodes_to.emplace(neighbour, nodes_to[node] + 1).second) queue.push_back(neighbour);
    }
  }
  return std::nullopt;
}

Path path_of(std::string_view text) {
  constexpr std::string_view kSeparators = " \t\r\n-,>";
  constexpr std::string_view kArrow = "→";
  Path path(1);
  while (!text.empty()) {
    const std::size_t width = text.starts_with(kArrow) ? kArrow.size() : 1;
    if (width > 1 || kSeparators.find(text[0]) != std::string_view::npos) {
      if (!path.back().empty()) path.emplace_back();
    } else {
      path.back() += text[0];
    }
    text.remove_prefix(width);
  }
  if (path.back().empty()) path.pop_back();
  return path;
}

bool is_path(const GivenGraph& graph, const Path& path) {
  if (path.empty() || path.front() != graph.from || path.back() != graph.to) return false;
  if (std::set<std::string>(path.begin(), path.end()).size() != path.size()) return false;
  for (std::size_t i = 0; i + 1 < path.size(); ++i) {
    const auto edges = graph.leads_to.find(path[i]);
    if (edges == graph.leads_to.end() || !edges->second.contains(path[i + 1])) return false;
  }
  return true;
}

class GraphPathsVerifier final : public Verifier {
 public:
  Assessment assess(const Problem& problem, const Rollout&, std::string_view response) const override {
    const auto graph = given_graph(problem);
    const auto fewest = graph ? fewest_nodes(*graph) : std::nullopt;
    if (!fewest) return judged(Verdict::gold_unusable, "");
    const std::string_view answer = trimmed(last_answer_tag(response).value_or(""));
    if (answer.empty()) return judged(Verdict::no_answer, "");
    const Path path = path_of(answer);
    const bool right = is_path(*graph, path) && (!graph->shortest || path.size() == *fewest);
    return judged(right ? Verdict::correct : Verdict::wrong, std::string(answer));
  }
};

}  // namespace

std::shared_ptr<const Verifier> make_graph_paths_verifier(KeyReader&, const VerifierSettings&) {
  return std::make_shared<GraphPathsVerifier>();
}

}  // namespace maxplus
