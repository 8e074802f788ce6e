#pragma once
// The task `graph_paths`: a path, or a shortest one, between two nodes of a connected graph without directions,
// "a-b c-d b-c: path a d=". A demonstration searches breadth first. Any right path counts. A graph with two ends is on
// one side, in whatever order its edges stand and whichever end comes first.

#include <memory>

#include "data/task.hpp"

namespace maxplus {

std::shared_ptr<const Task> make_graph_paths_task(KeyReader& keys, std::shared_ptr<const Tokenizer> tokenizer);

}  // namespace maxplus
