#pragma once
// Contents that are a function of the iteration, so that any process can tell what a checkpoint must hold.

#include <cstdint>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "io/checkpoint_file.hpp"

namespace maxplus {

struct KnownContents {
  // Tensors of all awkward sizes: none, one, less than a block, whole blocks, many blocks and a rest.
  KnownContents(std::int64_t iteration, std::int64_t largest) {
    contents.iteration = iteration;
    const std::int64_t sizes[] = {largest, 0, 1, 640, 64 * 7 + 13, largest / 2};
    std::uint64_t index = 0;
    storage.reserve(std::size(sizes));
    for (const std::int64_t size : sizes) {
      auto& values = storage.emplace_back(static_cast<std::size_t>(size));
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = uniform(static_cast<std::uint64_t>(iteration), Purpose::test, index, i);
      contents.tensors.push_back({"group." + std::to_string(index) + ".weight", values});
      ++index;
    }
    contents.integers = {{"step", 3 * iteration}, {"least", INT64_MIN}};
    contents.numbers = {{"tenth", 0.1}, {"tiny", 5e-324}};
    contents.texts = {{"tokenizer", "words \u00e4 \"quoted\"\n"}};
    contents.state = "{\"iteration\": " + std::to_string(iteration) + "}";
  }
  std::vector<std::vector<float>> storage;
  CheckpointContents contents;
};

// Nothing, or what of the file differs from the contents of its iteration. Collective.
inline std::string difference(const std::string& path, MPI_Comm ranks, const KnownContents& known) {
  std::vector<std::vector<float>> read;
  std::vector<CheckpointTarget> targets;
  read.reserve(known.storage.size());
  for (std::size_t i = 0; i < known.storage.size(); ++i) {
    read.emplace_back(known.storage[i].size(), -1.0f);
    targets.push_back({known.contents.tensors[i].name, read.back()});
  }
  const CheckpointHeader header = read_checkpoint(path, ranks, targets);
  if (header.iteration != known.contents.iteration) return "iteration " + std::to_string(header.iteration);
  if (header.integers != known.contents.integers) return "integers";
  if (header.numbers != known.contents.numbers) return "numbers";
  if (header.texts != known.contents.texts) return "texts";
  if (header.state != known.contents.state) return "state";
  for (std::size_t i = 0; i < read.size(); ++i) {
    if (read[i] != known.storage[i]) return known.contents.tensors[i].name;
  }
  return "";
}

}  // namespace maxplus
