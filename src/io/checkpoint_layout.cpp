#include "io/checkpoint_layout.hpp"

#include <fmt/format.h>
#include <xxhash.h>
#include <nlohmann/json.hpp>

#include "base/error.hpp"

namespace maxplus::checkpoint {

std::string header_text(const CheckpointContents& contents, std::int64_t block_elements) {
  nlohmann::ordered_json header;
  header["format"] = kFormat;
  header["iteration"] = contents.iteration;
  header["block_elements"] = block_elements;
  auto& tensors = header["tensors"] = nlohmann::ordered_json::array();
  for (const CheckpointTensor& t : contents.tensors) tensors.push_back({{"name", t.name}, {"elements", t.size()}});
  auto& integers = header["integers"] = nlohmann::ordered_json::array();
  for (const auto& [name, value] : contents.integers) integers.push_back(name);
  auto& numbers = header["numbers"] = nlohmann::ordered_json::array();
  for (const auto& [name, value] : contents.numbers) numbers.push_back(name);
  auto& texts = header["texts"] = nlohmann::ordered_json::object();
  for (const auto& [name, value] : contents.texts) texts[name] = value;
  return header.dump();
}

CheckpointHeader parse_header(const std::string& path, std::string_view text) {
  CheckpointHeader header;
  try {
    const auto json = nlohmann::json::parse(text);
    header.format = json.at("format").get<std::int64_t>();
    if (header.format != kFormat) {
      throw Error(ExitCode::data,
                  Fault{"", fmt::format("{}: checkpoint format {}", path, header.format),
                        fmt::format("format {}", kFormat), "use the version of the program that wrote it"});
    }
    header.iteration = json.at("iteration").get<std::int64_t>();
    header.block_elements = json.at("block_elements").get<std::int64_t>();
    for (const auto& t : json.at("tensors")) {
      header.tensors.push_back({t.at("name").get<std::string>(), t.at("elements").get<std::int64_t>()});
    }
    for (const auto& name : json.at("integers")) header.integers[name.get<std::string>()] = 0;
    for (const auto& name : json.at("numbers")) header.numbers[name.get<std::string>()] = 0;
    header.texts = json.at("texts").get<std::map<std::string, std::string>>();
  } catch (const nlohmann::json::exception& error) {
    throw Error(ExitCode::data, Fault{"", fmt::format("{}: the header cannot be read: {}", path, error.what()),
                                      "a checkpoint of this program", "use an older checkpoint"});
  }
  return header;
}

std::int64_t blocks_of(std::int64_t elements, std::int64_t block_elements) {
  return (elements + block_elements - 1) / block_elements;
}

std::uint64_t hash_block(const std::string& tensor, std::int64_t block, std::int64_t iteration,
                         std::span<const float> values) {
  const std::uint64_t place[3] = {XXH3_64bits(tensor.data(), tensor.size()), static_cast<std::uint64_t>(block),
                                  static_cast<std::uint64_t>(iteration)};
  return XXH3_64bits_withSeed(values.data(), values.size_bytes(), XXH3_64bits(place, sizeof place));
}

std::uint64_t seal(const SealedBytes& bytes) {
  // Chained: the hash so far is the next one's seed, so that no byte can move from one part to its neighbour.
  std::uint64_t hash = XXH3_64bits_withSeed(bytes.header.data(), bytes.header.size(), bytes.header.size());
  hash = XXH3_64bits_withSeed(bytes.state.data(), bytes.state.size(), hash ^ bytes.state.size());
  hash = XXH3_64bits_withSeed(bytes.integers.data(), bytes.integers.size_bytes(), hash);
  hash = XXH3_64bits_withSeed(bytes.numbers.data(), bytes.numbers.size_bytes(), hash);
  return XXH3_64bits_withSeed(bytes.hashes.data(), bytes.hashes.size_bytes(), hash);
}

std::string tensor_dataset(const std::string& name) { return "tensors/" + name; }

}  // namespace maxplus::checkpoint
