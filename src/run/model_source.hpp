#pragma once
// A network as a user names it on the command line or in [model] path: a Hugging Face folder, a GGUF file or a
// checkpoint of ours.

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "model/model_config.hpp"
#include "model/transformer.hpp"
#include "text/tokenizer.hpp"

namespace maxplus {

struct OpenedModel {
  ModelConfig config;
  std::shared_ptr<const Tokenizer> tokenizer;  // none: ids work, text is refused
  std::function<void(WeightSet&)> load;        // fills the weights; every rank for itself
  std::string description;
  std::string config_json;                        // as published; empty where there is none
  std::map<std::string, std::string> companions;  // tokenizer, template and so on: file name to content
};

// Throws Error(no_input) when there is nothing there, Error(data) when it cannot be used. Needs no MPI.
OpenedModel open_model(const std::filesystem::path& path);

}  // namespace maxplus
