#pragma once
// A network as a user names it on the command line or in [model] path: a Hugging Face folder, a GGUF file, a
// safetensors file that says what it is, or a checkpoint of ours.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "model/model_config.hpp"
#include "model/transformer.hpp"
#include "model/weight_source.hpp"
#include "text/tokenizer.hpp"

namespace maxplus {

enum class ModelFileKind { folder, gguf, checkpoint, safetensors };
// By what stands at the file's beginning, then by the ending of its name. Throws Error(no_input) when there is nothing,
// Error(data) when it is none of them.
ModelFileKind kind_of_model_file(const std::filesystem::path& path);

struct OpenedModel {
  ModelConfig config;
  std::shared_ptr<const Tokenizer> tokenizer;  // none: ids work, text is refused
  std::optional<Fault> tokenizer_fault;        // why a tokenizer that is there cannot be used
  std::vector<std::int32_t> stop;              // tokens that end an answer, as the model's files say; may be empty
  std::function<void(WeightSet&)> load;        // fills the weights; every rank for itself
  std::function<std::shared_ptr<const WeightSource>()> open_weights;  // none for random weights
  std::string description;
  // What travels along when the model is written elsewhere, word by word: file name to content. With "config.json"
  // where a published folder said it.
  std::map<std::string, std::string> companions;
};

// The newest checkpoint of a run folder; of anything else the path itself.
std::filesystem::path newest_of_run(const std::filesystem::path& path);

// A run folder is its newest checkpoint. Throws Error(no_input) when there is nothing there, Error(data) when it cannot
// be used. Needs no MPI.
OpenedModel open_model(const std::filesystem::path& path);
// The same, but the tokenizer is left out.
OpenedModel open_network(const std::filesystem::path& path);
// The critic that a checkpoint holds beside the policy, as a classifier. Throws Error(data) where there is none.
OpenedModel open_critic_of_checkpoint(const std::filesystem::path& path);

// Throws Error(data) for a classifier where a language model is asked for.
void require_tokens(const OpenedModel& model, const std::string& where);

// Fills the weights of a network that may have other heads than the model: a value head that the model's files do not
// have starts at random.
void load_into(const OpenedModel& model, WeightSet& weights, std::uint64_t seed);

// Another tokenizer than the model's own: the files of the old one no longer travel along.
void replace_tokenizer(OpenedModel& model, std::shared_ptr<const Tokenizer> tokenizer);

// A tokenizer of a kind that tokenizer.json does not know, as to_json writes it.
inline constexpr const char* kOwnTokenizerFile = "maxplus_tokenizer.json";
// Where companions stand in the texts of a checkpoint and the metadata of a safetensors file.
inline constexpr const char* kCompanionPrefix = "file/";

}  // namespace maxplus
