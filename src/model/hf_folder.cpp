#include "model/hf_folder.hpp"

#include <cstring>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "io/file.hpp"
#include "io/safetensors.hpp"
#include "io/safetensors_shards.hpp"

namespace maxplus {

namespace {

constexpr const char* kConfig = "config.json";
constexpr const char* kGeneration = "generation_config.json";
constexpr const char* kWeights = "model.safetensors";
constexpr const char* kIndex = "model.safetensors.index.json";

// Tensors of one file or of several, in the order of the files and of their data.
class SafetensorsWeights : public WeightSource {
 public:
  SafetensorsWeights(std::string where, std::vector<SafetensorsFile> files)
      : where_(std::move(where)), files_(std::move(files)) {
    for (const SafetensorsFile& file : files_) {
      for (const SafetensorsEntry& entry : file.entries()) {
        tensors_.push_back({entry.name, entry.dtype, entry.extents, file.where()});
        places_.push_back({&file, &entry});
      }
    }
  }

  const std::string& where() const override { return where_; }
  const std::vector<Tensor>& tensors() const override { return tensors_; }
  std::string readable_types() const override { return "F32, F16, BF16 or F64"; }
  bool is_readable(std::size_t tensor) const override { return places_[tensor].entry->readable_as_f32(); }
  void read(std::size_t tensor, std::span<float> out) const override {
    places_[tensor].file->read_f32(*places_[tensor].entry, out);
  }
  bool are_equal(std::size_t a, std::size_t b) const override {
    const SafetensorsEntry &left = *places_[a].entry, &right = *places_[b].entry;
    return left.dtype == right.dtype && left.data.size() == right.data.size() &&
           std::memcmp(left.data.data(), right.data.data(), left.data.size()) == 0;
  }

 private:
  struct Place {
    const SafetensorsFile* file;
    const SafetensorsEntry* entry;
  };
  std::string where_;
  std::vector<SafetensorsFile> files_;
  std::vector<Tensor> tensors_;
  std::vector<Place> places_;
};

}  // namespace

ModelConfig read_hf_config(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / kConfig;
  const MappedFile file(path);
  const nlohmann::json json = nlohmann::json::parse(file.text(), nullptr, false);
  if (json.is_discarded())
    throw Error(ExitCode::data, Fault{path.string(), "is not valid JSON", "a published config.json", ""});
  return read_model_config(json, path.string());
}

std::unique_ptr<WeightSource> open_safetensors_weights(const std::filesystem::path& file) {
  std::vector<SafetensorsFile> files;
  files.emplace_back(file);
  return std::make_unique<SafetensorsWeights>(file.string(), std::move(files));
}

std::vector<SafetensorsFile> open_hf_files(const std::filesystem::path& folder) {
  std::error_code ignored;
  if (!std::filesystem::exists(folder / kWeights, ignored) && std::filesystem::exists(folder / kIndex, ignored))
    return open_safetensors_shards(folder / kIndex);
  std::vector<SafetensorsFile> files;
  files.emplace_back(folder / kWeights);
  return files;
}

std::unique_ptr<WeightSource> open_hf_weights(const std::filesystem::path& folder) {
  std::vector<SafetensorsFile> files = open_hf_files(folder);
  const std::string where = files.size() == 1 ? files.front().where() : (folder / kIndex).string();
  return std::make_unique<SafetensorsWeights>(where, std::move(files));
}

void load_hf_weights(const std::filesystem::path& folder, WeightSet& weights) {
  load_weights(open_hf_weights(folder), weights);
}

HfContents published_contents(const ModelConfig& config) {
  HfContents contents;
  contents.files[kConfig] = write_model_config(config).dump(2) + "\n";
  nlohmann::ordered_json generation = nlohmann::ordered_json::object();
  if (config.begin_token >= 0) generation["bos_token_id"] = config.begin_token;
  if (config.end_token >= 0) generation["eos_token_id"] = config.end_token;
  contents.files[kGeneration] = generation.dump(2) + "\n";
  return contents;
}

std::string config_with_dtype(const std::string& config, DType dtype) {
  auto json = nlohmann::ordered_json::parse(config, nullptr, false);
  MAXPLUS_REQUIRE(json.is_object(), "a config.json that has been read");
  const char* name = dtype == DType::bf16 ? "bfloat16" : "float32";
  const char* key = json.contains("dtype") && !json.contains("torch_dtype") ? "dtype" : "torch_dtype";
  if (json.contains(key) && json[key] == name) return config;
  json[key] = name;
  return json.dump(2) + "\n";
}

void write_hf_folder(const std::filesystem::path& folder, const HfContents& contents, const ExportPlan& plan,
                     const RankGroup& group, const ExportValues& values) {
  group.agree_on_root([&] {
    std::error_code failed;
    std::filesystem::create_directories(folder, failed);
    if (failed) {
      throw Error(ExitCode::cannot_create,
                  Fault{folder.string(), "cannot be created: " + failed.message(), "a place that can be written to",
                        "check the path and its permissions"});
    }
    for (const auto& [name, text] : contents.files) write_text_file(folder / name, text);
  });
  write_export(folder, plan, group, values);
  // Weights of an earlier export in the other form would hide the new ones.
  group.agree_on_root([&] {
    std::error_code ignored;
    if (plan.index.empty()) {
      std::filesystem::remove(folder / kIndex, ignored);
    } else {
      write_text_file(folder / kIndex, plan.index);
      std::filesystem::remove(folder / kWeights, ignored);
    }
  });
}

ExportPlan plan_hf_weights(const WeightSet& weights, ExportOptions options) {
  std::vector<ExportTensor> tensors;
  for (const Parameter& parameter : weights.parameters()) tensors.push_back({parameter.name, parameter.global_extents});
  options.metadata["format"] = "pt";  // which readers of published files ask for
  return plan_export(std::move(tensors), "model", options);
}

void write_hf_folder(const std::filesystem::path& folder, const WeightSet& weights) {
  write_hf_folder(folder, published_contents(weights.config()), plan_hf_weights(weights, {}), RankGroup(MPI_COMM_SELF),
                  [&](std::size_t tensor) { return weights.parameters()[tensor].weight.span<float>(); });
}

}  // namespace maxplus
