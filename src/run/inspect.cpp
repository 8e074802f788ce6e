#include "run/inspect.hpp"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/fingerprint.hpp"
#include "io/checkpoint_file.hpp"
#include "io/gguf.hpp"
#include "io/safetensors.hpp"
#include "io/safetensors_shards.hpp"
#include "model/hf_folder.hpp"
#include "run/model_source.hpp"

namespace maxplus {

namespace {

constexpr std::uint64_t kShownItems = 8;  // of a list in the metadata

struct Tensor {
  std::string name, dtype;
  std::vector<std::int64_t> extents;
  std::string hash;
};

struct Inspected {
  std::string kind;
  std::vector<std::pair<std::string, std::string>> metadata;
  std::vector<Tensor> tensors;
  std::string weights_hash, no_hash_because;  // one of them
};

std::string hash_of(std::span<const std::byte> bytes) {
  return fingerprint({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

// The hash that a run writes: of the model's f32 weights in byte order of names.
std::string hash_of_model(const std::filesystem::path& path) {
  const OpenedModel model = open_network(path);
  const std::shared_ptr<const WeightSource> source = model.open_weights();
  const WeightPlan plan(model.config, *source);
  return hash_of_weights(CheckedWeights(source, plan.weights()), plan.weights());
}

// Of files that are sound but need not be a model that this version knows.
void try_hash_of_model(const std::filesystem::path& path, Inspected* found) {
  try {
    found->weights_hash = hash_of_model(path);
  } catch (const Error& error) {
    if (error.code() != ExitCode::data) throw;
    found->no_hash_because = error.faults().front().found;
  }
}

// Files that travel along are told by size and hash.
std::string metadata_text(const std::string& key, const std::string& value) {
  if (!key.starts_with(kCompanionPrefix)) return value;
  return fmt::format("{} bytes, {}", value.size(), hash_of(std::as_bytes(std::span<const char>(value))));
}

void add_safetensors(const SafetensorsFile& file, Inspected* found) {
  for (const auto& [key, value] : file.metadata()) found->metadata.push_back({key, metadata_text(key, value)});
  for (const SafetensorsEntry& entry : file.entries()) {
    file.mapping().will_read(entry.data);
    found->tensors.push_back({entry.name, entry.dtype, entry.extents, hash_of(entry.data)});
    file.mapping().has_read(entry.data);
  }
}

Inspected inspect_checkpoint(const std::filesystem::path& path) {
  const CheckpointReader reader(path.string());
  const CheckpointHeader& header = reader.header();
  Inspected found;
  found.kind = "checkpoint";
  found.metadata = {{"format", std::to_string(header.format)}, {"iteration", std::to_string(header.iteration)}};
  for (const auto& [key, value] : header.integers) found.metadata.push_back({key, std::to_string(value)});
  for (const auto& [key, value] : header.numbers) found.metadata.push_back({key, fmt::format("{}", value)});
  for (const auto& [key, value] : header.texts) found.metadata.push_back({key, metadata_text(key, value)});
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

std::string item_text(const GgufValue& value, std::uint64_t i) {
  if (const auto flag = value.flag(i)) return *flag ? "true" : "false";
  if (const auto whole = value.whole(i)) return fmt::format("{}", *whole);
  const double number = value.number(i).value_or(0);
  return value.kind() == GgufKind::f32 ? fmt::format("{}", static_cast<float>(number)) : fmt::format("{}", number);
}

std::string value_text(const GgufValue& value) {
  std::vector<std::string> items;
  if (value.kind() == GgufKind::text) {
    std::string only;
    value.for_each_text([&](std::string_view text) {
      if (!value.is_list()) only = text;
      if (items.size() < kShownItems) items.emplace_back(text);
    });
    if (!value.is_list()) return only;
  } else {
    for (std::uint64_t i = 0; i < std::min(kShownItems, value.count()); ++i) items.push_back(item_text(value, i));
    if (!value.is_list()) return items.front();
  }
  return fmt::format("{} of {}: {}{}", value.type_name(), value.count(), fmt::join(items, ", "),
                     value.count() > kShownItems ? ", ..." : "");
}

Inspected inspect_gguf(const std::filesystem::path& path) {
  const GgufFile file(path);
  Inspected found;
  found.kind = "GGUF";
  found.metadata.push_back({"version", std::to_string(file.version())});
  for (std::size_t i = 0; i < file.key_count(); ++i)
    found.metadata.push_back({std::string(file.key(i)), value_text(file.value(i))});
  for (std::size_t i = 0; i < file.tensor_count(); ++i) {
    const GgufTensor tensor = file.tensor(i);
    file.mapping().will_read(tensor.data);
    found.tensors.push_back({std::string(tensor.name), std::string(tensor.type->name), tensor.extents_slowest_first(),
                             hash_of(tensor.data)});
    file.mapping().has_read(tensor.data);
  }
  try_hash_of_model(path, &found);
  return found;
}

Inspected inspect_folder(const std::filesystem::path& path) {
  Inspected found;
  found.kind = "model folder";
  const ModelConfig config = read_hf_config(path);
  found.metadata.push_back({"family", config.family});
  found.metadata.push_back({"parameters", std::to_string(parameter_count(config))});
  for (const SafetensorsFile& file : open_hf_files(path)) add_safetensors(file, &found);
  found.weights_hash = hash_of_model(path);
  return found;
}

Inspected look_into(const std::filesystem::path& path) {
  switch (kind_of_model_file(path)) {
    case ModelFileKind::folder: return inspect_folder(path);
    case ModelFileKind::gguf: return inspect_gguf(path);
    case ModelFileKind::checkpoint: return inspect_checkpoint(path);
    case ModelFileKind::safetensors: break;
  }
  Inspected found;
  found.kind = "safetensors";
  add_safetensors(SafetensorsFile(path), &found);
  try_hash_of_model(path, &found);
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
  return json.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::string as_table(const Inspected& found) {
  std::string text = fmt::format("{}\n", found.kind);
  for (const auto& [key, value] : found.metadata) {
    const std::string first = value.substr(0, value.find('\n'));
    text += fmt::format("  {}: {}{}\n", key, first.substr(0, 100),
                        first.size() > 100 || first.size() < value.size() ? " ..." : "");
  }
  if (!found.weights_hash.empty()) text += fmt::format("  weights_hash: {}\n", found.weights_hash);
  if (!found.no_hash_because.empty()) text += fmt::format("  weights_hash: none, as {}\n", found.no_hash_because);
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
  const Inspected found = look_into(newest_of_run(path));
  return form == CommandLine::Output::json ? as_json(found) : as_table(found);
}

}  // namespace maxplus
