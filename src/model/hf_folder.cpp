// Loading compares the file's list of tensors with the family's before a number is read.
#include "model/hf_folder.hpp"

#include <cstring>
#include <set>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "io/file.hpp"
#include "io/safetensors.hpp"

namespace maxplus {

namespace {

constexpr const char* kConfig = "config.json";
constexpr const char* kGeneration = "generation_config.json";
constexpr const char* kWeights = "model.safetensors";
constexpr const char* kIndex = "model.safetensors.index.json";
constexpr const char* kTiedHead = "lm_head.weight";

// Older files carry the rotary frequencies of every layer, which follow from the configuration.
bool is_derived(const std::string& name) {
  const std::string ending = ".rotary_emb.inv_freq";
  return name.size() > ending.size() && name.compare(name.size() - ending.size(), ending.size(), ending) == 0;
}

std::string extents_text(const std::vector<std::int64_t>& extents) {
  return fmt::format("[{}]", fmt::join(extents, ", "));
}

// A tied file may repeat the embedding under the head's name; then both must be the same bytes.
bool repeats_embedding(const SafetensorsFile& file, const SafetensorsEntry& head) {
  const SafetensorsEntry* table = file.find("model.embed_tokens.weight");
  return table != nullptr && table->dtype == head.dtype && table->data.size() == head.data.size() &&
         std::memcmp(table->data.data(), head.data.data(), head.data.size()) == 0;
}

std::vector<Fault> compare_tensors(const SafetensorsFile& file, const WeightSet& weights, const std::string& where) {
  std::vector<Fault> faults;
  const auto fault = [&](std::string found, std::string expected) {
    faults.push_back({where, std::move(found), std::move(expected), ""});
  };
  std::set<std::string> known;
  for (const Parameter& parameter : weights.parameters()) {
    known.insert(parameter.name);
    const SafetensorsEntry* entry = file.find(parameter.name);
    if (entry == nullptr) {
      fault(fmt::format("tensor '{}' is missing", parameter.name), "extents " + extents_text(parameter.global_extents));
    } else if (entry->extents != parameter.global_extents) {
      fault(fmt::format("tensor '{}' has extents {}", parameter.name, extents_text(entry->extents)),
            extents_text(parameter.global_extents) + ", as config.json says");
    } else if (!entry->readable_as_f32()) {
      fault(fmt::format("tensor '{}' has dtype {}", parameter.name, entry->dtype), "F32, F16, BF16 or F64");
    }
  }
  for (const SafetensorsEntry& entry : file.entries()) {
    if (known.count(entry.name) || is_derived(entry.name)) continue;
    if (entry.name == kTiedHead && weights.config().tie_embeddings) {
      if (!repeats_embedding(file, entry))
        fault("tensor 'lm_head.weight' differs from the embedding", "equal: config.json ties them");
      continue;
    }
    fault(fmt::format("tensor '{}' is not part of a {}", entry.name, weights.config().family),
          "only the family's tensors");
  }
  return faults;
}

}  // namespace

ModelConfig read_hf_config(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / kConfig;
  const MappedFile file(path);
  const nlohmann::json json = nlohmann::json::parse(file.text(), nullptr, false);
  if (json.is_discarded())
    throw Error(ExitCode::data, Fault{path.string(), "is not valid JSON", "a published config.json", ""});
  return read_model_config(json, path.string());
}

void load_hf_weights(const std::filesystem::path& folder, WeightSet& weights) {
  const std::filesystem::path path = folder / kWeights;
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored) && std::filesystem::exists(folder / kIndex, ignored)) {
    throw Error(ExitCode::data, Fault{(folder / kIndex).string(), "the weights are split over several files",
                                      "one file model.safetensors", "merge the parts into one file"});
  }
  const SafetensorsFile file(path);
  const std::vector<Fault> faults = compare_tensors(file, weights, path.string());
  if (!faults.empty()) throw Error(ExitCode::data, faults);
  for (const Parameter& parameter : weights.parameters()) {
    file.read_f32(*file.find(parameter.name), parameter.weight.span<float>());
  }
}

void write_hf_folder(const std::filesystem::path& folder, const WeightSet& weights) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) {
    throw Error(ExitCode::cannot_create, Fault{folder.string(), "cannot be created: " + failed.message(),
                                               "a place that can be written to", "check the path and its permissions"});
  }
  const ModelConfig& config = weights.config();
  write_text_file(folder / kConfig, write_model_config(config).dump(2) + "\n");
  nlohmann::ordered_json generation = nlohmann::ordered_json::object();
  if (config.begin_token >= 0) generation["bos_token_id"] = config.begin_token;
  if (config.end_token >= 0) generation["eos_token_id"] = config.end_token;
  write_text_file(folder / kGeneration, generation.dump(2) + "\n");
  std::vector<SafetensorsTensor> tensors;
  for (const Parameter& parameter : weights.parameters()) tensors.push_back({parameter.name, parameter.weight});
  write_safetensors(folder / kWeights, std::move(tensors), {{"format", "pt"}});
}

}  // namespace maxplus
