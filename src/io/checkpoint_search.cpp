// Which checkpoint a run goes on from: the newest that reads back whole.
#include <algorithm>

#include <fmt/format.h>

#include "base/strings.hpp"
#include "io/checkpoint_file.hpp"
#include "io/checkpoint_folder.hpp"
#include "io/rank_group.hpp"

namespace maxplus {

namespace {

struct Candidates {
  std::vector<std::string> names;
  std::vector<std::string> refused;
};

// Whatever the file holds, as one line of plain characters.
std::string printable(const std::string& text) {
  std::string line = one_line(text.substr(0, 100));
  for (char& c : line) {
    if (static_cast<unsigned char>(c) > 0x7E) c = '?';
  }
  return line;
}

// What the pointer names, then what is older, newest first; then what is newer than the pointer: such files were
// complete before the pointer moved, or belong to a course of the run that was given up.
Candidates candidates(const std::string& folder) {
  Candidates list;
  const auto pointer = checkpoint::read_pointer(folder);
  std::int64_t limit = INT64_MAX;
  if (pointer) {
    if (const auto iteration = checkpoint::iteration_of(*pointer)) {
      limit = *iteration;
    } else {
      list.refused.push_back(fmt::format("latest: names '{}', which is no checkpoint", printable(*pointer)));
    }
  }
  const auto all = checkpoint::generations(folder);
  if (limit != INT64_MAX && std::none_of(all.begin(), all.end(), [&](const auto& g) { return g.iteration == limit; })) {
    list.refused.push_back(fmt::format("{}: named by latest, but missing", *pointer));
  }
  for (const auto& generation : all) {
    if (generation.iteration <= limit) list.names.push_back(generation.name);
  }
  for (const auto& generation : all) {
    if (generation.iteration > limit) list.names.push_back(generation.name);
  }
  return list;
}

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> list;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    list.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return list;
}

std::string joined(const std::vector<std::string>& list) {
  std::string text;
  for (const std::string& line : list) text += line + "\n";
  return text;
}

}  // namespace

ValidCheckpoint newest_valid_checkpoint(const std::string& folder, MPI_Comm ranks) {
  const RankGroup group(ranks);
  Candidates list;
  group.agree_on_root([&] { list = candidates(folder); });
  list.names = lines(group.broadcast(joined(list.names)));
  ValidCheckpoint result;
  result.refused = lines(group.broadcast(joined(list.refused)));
  for (const std::string& name : list.names) {
    const std::string path = folder + "/" + name;
    const auto fault = fault_of_checkpoint(path, ranks);
    if (!fault) {
      result.path = path;
      return result;
    }
    result.refused.push_back(fmt::format("{}: {}", name, *fault));
    ++result.damaged;
  }
  return result;
}

}  // namespace maxplus
