#pragma once
// What the tests of published tokenizers share: test data, the lines of their files, a GGUF file with metadata only.

#include <unistd.h>
#include <cstdint>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "text/bpe_description.hpp"

namespace maxplus::testing {

using Ids = std::vector<std::int32_t>;

inline std::filesystem::path data_path(const std::string& name) {
  return std::filesystem::path(MAXPLUS_TEST_DATA) / name;
}

inline std::vector<std::string> lines_of(const std::string& name) {
  std::ifstream file(data_path(name));
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

inline std::vector<nlohmann::ordered_json> json_lines_of(const std::string& name) {
  std::vector<nlohmann::ordered_json> objects;
  for (const std::string& line : lines_of(name)) objects.push_back(nlohmann::ordered_json::parse(line));
  return objects;
}

// A folder that is removed at the end of the test.
class ScratchFolder {
 public:
  explicit ScratchFolder(const std::string& name)
      : path_(std::filesystem::temp_directory_path() / ("maxplus_" + name + "_" + std::to_string(::getpid()))) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// The bytes of a GGUF file (version 3) without tensors.
class GgufMetadata {
 public:
  void text(const std::string& key, const std::string& value) {
    begin(key, 8);
    put_text(value);
  }
  void whole(const std::string& key, std::uint32_t value) {
    begin(key, 4);
    put(value);
  }
  void texts(const std::string& key, const std::vector<std::string>& values) {
    begin_list(key, 8, values.size());
    for (const std::string& value : values) put_text(value);
  }
  void wholes(const std::string& key, const std::vector<std::int32_t>& values) {
    begin_list(key, 5, values.size());
    for (const std::int32_t value : values) put(value);
  }
  void write(const std::filesystem::path& path) const {
    std::ofstream file(path, std::ios::binary);
    const auto raw = [&file](auto value) { file.write(reinterpret_cast<const char*>(&value), sizeof value); };
    file.write("GGUF", 4);
    raw(std::uint32_t{3});
    raw(std::uint64_t{0});
    raw(count_);
    file.write(bytes_.data(), static_cast<std::streamsize>(bytes_.size()));
  }

 private:
  template <class T>
  void put(T value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void put_text(const std::string& value) {
    put(static_cast<std::uint64_t>(value.size()));
    bytes_ += value;
  }
  void begin(const std::string& key, std::uint32_t kind) {
    ++count_;
    put_text(key);
    put(kind);
  }
  void begin_list(const std::string& key, std::uint32_t kind, std::size_t count) {
    begin(key, 9);
    put(kind);
    put(static_cast<std::uint64_t>(count));
  }
  std::string bytes_;
  std::uint64_t count_ = 0;
};

// The tokenizer of SmolLM2 as GGUF metadata. vocabulary.txt holds its first 252 tokens (17 of them special), then its
// merges, a line each; the other tokens are what the merges make.
inline GgufMetadata smollm2_metadata(const std::string& chat_template) {
  constexpr std::size_t kBase = 252, kSpecial = 17;
  std::vector<std::string> tokens = lines_of("smollm2/vocabulary.txt");
  const std::vector<std::string> merges(tokens.begin() + kBase, tokens.end());
  for (std::size_t i = kBase; i < tokens.size(); ++i) tokens[i].erase(tokens[i].find(' '), 1);
  std::vector<std::int32_t> types(tokens.size(), 1);
  for (std::size_t i = 0; i < kSpecial; ++i) types[i] = 3;
  GgufMetadata file;
  file.text("general.architecture", "llama");
  file.text("tokenizer.ggml.model", "gpt2");
  file.text("tokenizer.ggml.pre", "smollm");
  file.texts("tokenizer.ggml.tokens", tokens);
  file.wholes("tokenizer.ggml.token_type", types);
  file.texts("tokenizer.ggml.merges", merges);
  file.whole("tokenizer.ggml.bos_token_id", 1);
  file.whole("tokenizer.ggml.eos_token_id", 2);
  file.whole("tokenizer.ggml.unknown_token_id", 0);
  file.whole("tokenizer.ggml.padding_token_id", 2);
  if (!chat_template.empty()) file.text("tokenizer.chat_template", chat_template);
  return file;
}

}  // namespace maxplus::testing
