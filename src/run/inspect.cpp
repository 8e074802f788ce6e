#include "run/inspect.hpp"

#include <fstream>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <xxhash.h>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "io/checkpoint_file.hpp"
#include "io/safetensors.hpp"
#include "model/hf_folder.hpp"
#include "run/model_source.hpp"

namespace maxplus {

namespace {

struct Tensor {
  std::string name, dtype;
  std::vector<std::int64_t> extents;
  std::string hash;
};

struct Inspected {
  std::string kind;
  std::vector<std::pair<std::string, std::string>> metadata;
  std::vector<Tensor> tensors;
  std::string weights_hash;
};

std::string hash_of(std::span<const std::byte> bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

// The hash that a run writes: of the model's f32 weights in byte order of names.
std::string hash_of_model(const std::filesystem::path& path) {
  const OpenedModel model = open_model(path);
  Arena counted("weights");
  WeightSet plan(model.config, counted);
  Arena arena("weights", counted.peak(), Space::host);
  WeightSet weights(model.config, arena);
  model.load(weights);
  return weights.hash();
}

void add_safetensors(const std::filesystem::path& path, Inspected* found) {
  const SafetensorsFile file(path);
  for (const auto& [key, value] : file.metadata()) found->metadata.push_back({key, value});
  for (const SafetensorsEntry& entry : file.entries())
    found->tensors.push_back({entry.name, entry.dtype, entry.extents, hash_of(entry.data)});
}

Inspected inspect_checkpoint(const std::filesystem::path& path) {
  const CheckpointReader reader(path.string());
  const CheckpointHeader& header = reader.header();
  Inspected found;
  found.kind = "checkpoint";
  found.metadata = {{"format", std::to_string(header.format)}, {"iteration", std::to_string(header.iteration)}};
  for (const auto& [key, value] : header.integers) found.metadata.push_back({key, std::to_string(value)});
  for (const auto& [key, value] : header.numbers) found.metadata.push_back({key, fmt::format("{}", value)});
  for (const auto& [key, value] : header.texts) found.metadata.push_back({key, value});
  found.metadata.push_back({"state", header.state});
  for (const CheckpointHeader::Tensor& tensor : header.tensors) {
    std::vector<float> values(static_cast<std::size_t>(tensor.elements));
    reader.read(tensor.name, values);
    found.tensors.push_back(
        {tensor.name, "F32", {tensor.elements}, hash_of(std::as_bytes(std::span<const float>(values)))});
  }
  if (header.texts.contains("model_config")) found.weights_hash = hash_of_model(path);
  return found;
}

bool is_hdf5(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  char head[8] = {};
  file.read(head, sizeof head);
  return file && std::string_view(head, 8) == std::string_view("\x89HDF\r\n\x1a\n", 8);
}

Inspected look_into(const std::filesystem::path& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    Inspected found;
    found.kind = "model folder";
    const ModelConfig config = read_hf_config(path);
    found.metadata.push_back({"family", config.family});
    found.metadata.push_back({"parameters", std::to_string(parameter_count(config))});
    add_safetensors(path / "model.safetensors", &found);
    found.weights_hash = hash_of_model(path);
    return found;
  }
  if (!std::filesystem::exists(path, error)) {
    throw Error(ExitCode::no_input, Fault{path.string(), "there is no such file",
                                          "a checkpoint, a safetensors file or a model folder", ""});
  }
  if (is_hdf5(path)) return inspect_checkpoint(path);
  Inspected found;
  found.kind = "safetensors";
  add_safetensors(path, &found);
  return found;
}

std::string as_json(const Inspected& found) {
  nlohmann::ordered_json json;
  json["kind"] = found.kind;
  if (!found.weights_hash.empty()) json["weights_hash"] = found.weights_hash;
  json["metadata"] = nlohmann::ordered_json::object();
  for (const auto& [key, value] : found.metadata) json["metadata"][key] = value;
  json["tensors"] = nlohmann::ordered_json::array();
  for (const Tensor& tensor : found.tensors) {
    json["tensors"].push_back(
        {{"name", tensor.name}, {"dtype", tensor.dtype}, {"extents", tensor.extents}, {"hash", tensor.hash}});
  }
  return json.dump(1) + "\n";
}

std::string as_table(const Inspected& found) {
  std::string text = fmt::format("{}\n", found.kind);
  for (const auto& [key, value] : found.metadata) {
    const std::string first = value.substr(0, value.find('\n'));
    text += fmt::format("  {}: {}{}\n", key, first.substr(0, 100),
                        first.size() > 100 || first.size() < value.size() ? " ..." : "");
  }
  if (!found.weights_hash.empty()) text += fmt::format("  weights_hash: {}\n", found.weights_hash);
  std::size_t width = 4;
  for (const Tensor& tensor : found.tensors) width = std::max(width, tensor.name.size());
  for (const Tensor& tensor : found.tensors) {
    text += fmt::format("{:<{}}  {:<5} {:<16} {}\n", tensor.name, width, tensor.dtype,
                        fmt::format("[{}]", fmt::join(tensor.extents, ", ")), tensor.hash);
  }
  return text + fmt::format("{} tensors\n", found.tensors.size());
}

}  // namespace

std::string inspect(const std::filesystem::path& path, CommandLine::Output form) {
  const Inspected found = look_into(path);
  return form == CommandLine::Output::json ? as_json(found) : as_table(found);
}

}  // namespace maxplus
