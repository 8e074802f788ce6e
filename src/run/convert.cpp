#include "run/convert.hpp"

#include <limits>
#include <map>
#include <memory>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "io/checkpoint_file.hpp"
#include "io/file.hpp"
#include "model/hf_folder.hpp"
#include "run/build_info.hpp"
#include "run/checkpointing.hpp"
#include "run/model_source.hpp"
#include "text/hf_tokenizer.hpp"

namespace maxplus {

namespace fs = std::filesystem;

namespace {

// A folder beside `out` that vanishes at the end, for files that are made before their place is known.
class WorkFolder {
 public:
  explicit WorkFolder(const fs::path& out) : path_(out) {
    path_ += fmt::format(".partial-{}", ::getpid());
    std::error_code failed;
    fs::create_directories(path_, failed);
    if (failed) {
      throw Error(ExitCode::cannot_create,
                  Fault{path_.string(), "cannot be created: " + failed.message(), "a place that can be written to",
                        "check the path and its permissions"});
    }
  }
  ~WorkFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

void require_new(const fs::path& out) {
  std::error_code error;
  if (!fs::exists(out, error) || (fs::is_directory(out, error) && fs::is_empty(out, error))) return;
  throw Error(ExitCode::cannot_create,
              Fault{out.string(), "is already there", "a new name, or an empty folder", "choose another name"});
}

bool has_tokenizer_file(const std::map<std::string, std::string>& files) {
  return files.contains("tokenizer.json") || files.contains(kOwnTokenizerFile);
}

// What stands beside the weights: the files that came along as they were, the rest from what has been read.
HfContents contents_of(const OpenedModel& model, const fs::path& out) {
  HfContents contents = published_contents(model.config);
  for (const auto& [name, text] : model.companions) contents.files[name] = text;
  contents.files["config.json"] = config_with_dtype(contents.files["config.json"], DType::f32);
  if (has_tokenizer_file(contents.files) || !model.tokenizer) return contents;
  if (const BpeDescription* description = bpe_description_of(*model.tokenizer)) {
    const WorkFolder work(out);
    write_hf_tokenizer(*description, work.path());
    for (const auto& entry : fs::directory_iterator(work.path()))
      contents.files[entry.path().filename().string()] = std::string(MappedFile(entry.path()).text());
  } else {
    contents.files[kOwnTokenizerFile] = model.tokenizer->to_json().dump() + "\n";
  }
  return contents;
}

struct Conversion {
  const OpenedModel& model;
  const WeightSet& plan;  // without data
  const CheckedWeights& weights;
};

// One tensor after the other through one buffer.
ExportValues streamed(const Conversion& from, std::vector<float>& buffer) {
  return [&](std::size_t tensor) -> std::span<const float> {
    buffer.resize(static_cast<std::size_t>(from.plan.parameters()[tensor].global_size()));
    from.weights.read(tensor, buffer);
    return buffer;
  };
}

void write_folder(const Conversion& from, const fs::path& out) {
  std::vector<float> buffer;
  write_hf_folder(out, contents_of(from.model, out), plan_hf_weights(from.plan, {}), RankGroup(MPI_COMM_SELF),
                  streamed(from, buffer));
}

void write_single_file(const Conversion& from, const fs::path& out) {
  ExportOptions options;
  options.file_bytes = std::numeric_limits<std::int64_t>::max();
  for (const auto& [name, text] : contents_of(from.model, out).files) options.metadata[kCompanionPrefix + name] = text;
  const WorkFolder work(out);
  std::vector<float> buffer;
  const ExportPlan plan = plan_hf_weights(from.plan, options);
  write_export(work.path(), plan, RankGroup(MPI_COMM_SELF), streamed(from, buffer));
  fs::rename(work.path() / plan.files.front().name, out);
}

void write_start_checkpoint(const Conversion& from, const fs::path& out) {
  Arena arena("weights", static_cast<std::size_t>(from.plan.elements()) * sizeof(float) + Arena::kAlignment,
              Space::host);
  WeightSet weights(from.model.config, arena);
  for (std::size_t i = 0; i < weights.parameters().size(); ++i)
    from.weights.read(i, weights.parameters()[i].weight.span<float>());
  CheckpointContents contents;
  for (const Parameter& parameter : std::as_const(weights).parameters())
    contents.tensors.push_back({"weights/" + parameter.name, parameter.weight.span<float>()});
  contents.state = "{}";
  contents.texts[kModelConfigText] = write_model_config(from.model.config).dump();
  if (from.model.tokenizer) contents.texts[kTokenizerText] = from.model.tokenizer->to_json().dump();
  for (const auto& [name, text] : from.model.companions) contents.texts[kCompanionPrefix + name] = text;
  contents.texts[kWeightsHashText] = weights.hash();
  contents.texts["program"] = version_text();
  const WorkFolder work(out);
  std::set<std::string> verified;
  const CheckpointReport report = write_checkpoint(work.path().string(), MPI_COMM_SELF, contents, {}, verified);
  fs::rename(report.path, out);
}

}  // namespace

std::string convert_model(const fs::path& in, const fs::path& out, CommandLine::Network network,
                          CommandLine::Output form) {
  const OpenedModel model = network == CommandLine::Network::critic ? open_critic_of_checkpoint(in) : open_model(in);
  require_new(out);
  const std::shared_ptr<const WeightSource> source = model.open_weights();
  const WeightPlan plan(model.config, *source);
  const CheckedWeights weights(source, plan.weights());
  const Conversion conversion{model, plan.weights(), weights};
  std::string kind = "model folder";
  if (out.extension() == ".safetensors") {
    kind = "safetensors";
    write_single_file(conversion, out);
  } else if (out.extension() == ".h5") {
    kind = "checkpoint";
    write_start_checkpoint(conversion, out);
  } else {
    write_folder(conversion, out);
  }
  const bool has_tokenizer = model.tokenizer != nullptr || has_tokenizer_file(model.companions);
  if (form == CommandLine::Output::json) {
    const nlohmann::ordered_json json{{"kind", kind},
                                      {"out", out.string()},
                                      {"family", model.config.family},
                                      {"parameters", plan.weights().elements()},
                                      {"tokenizer", has_tokenizer}};
    return json.dump() + "\n";
  }
  std::string text = fmt::format("{} {}: {} of {} parameters from {}{}\n", kind, out.string(), model.config.family,
                                 plan.weights().elements(), in.string(), has_tokenizer ? "" : ", without a tokenizer");
  if (model.tokenizer_fault && !has_tokenizer)
    text +=
        fmt::format("its tokenizer is not read: {}: {}\n", model.tokenizer_fault->where, model.tokenizer_fault->found);
  return text;
}

}  // namespace maxplus
