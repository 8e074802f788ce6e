#pragma once
// Makes GGUF files for tests: keys and F32 tensors, version 3, alignment 32.

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "io/gguf_types.hpp"

namespace maxplus {

class GgufWriter {
 public:
  GgufWriter& text(const std::string& key, const std::string& value) {
    begin_key(key, GgufKind::text);
    put_text(keys_, value);
    return *this;
  }
  GgufWriter& whole(const std::string& key, std::uint32_t value) {
    begin_key(key, GgufKind::u32);
    put(keys_, value);
    return *this;
  }
  GgufWriter& number(const std::string& key, float value) {
    begin_key(key, GgufKind::f32);
    put(keys_, value);
    return *this;
  }
  GgufWriter& wholes(const std::string& key, const std::vector<std::uint32_t>& values) {
    begin_key(key, GgufKind::list);
    put(keys_, static_cast<std::uint32_t>(GgufKind::u32));
    put(keys_, static_cast<std::uint64_t>(values.size()));
    for (std::uint32_t value : values) put(keys_, value);
    return *this;
  }
  // Extents fastest first.
  GgufWriter& tensor(const std::string& name, const std::vector<std::uint64_t>& extents,
                     const std::vector<float>& values) {
    ++tensor_count_;
    put_text(directory_, name);
    put(directory_, static_cast<std::uint32_t>(extents.size()));
    for (std::uint64_t extent : extents) put(directory_, extent);
    put(directory_, std::uint32_t{0});
    put(directory_, static_cast<std::uint64_t>(data_.size()));
    data_.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
    data_.resize((data_.size() + 31) / 32 * 32);
    return *this;
  }
  std::string bytes() const {
    std::string all = "GGUF";
    put(all, std::uint32_t{3});
    put(all, tensor_count_);
    put(all, key_count_);
    all += keys_ + directory_;
    all.resize((all.size() + 31) / 32 * 32);
    return all + data_;
  }
  void write(const std::filesystem::path& path) const {
    const std::string all = bytes();
    std::ofstream(path, std::ios::binary).write(all.data(), static_cast<std::streamsize>(all.size()));
  }

 private:
  template <class T>
  static void put(std::string& to, T value) {
    char raw[sizeof value];
    std::memcpy(raw, &value, sizeof value);
    to.append(raw, sizeof value);
  }
  static void put_text(std::string& to, const std::string& text) {
    put(to, static_cast<std::uint64_t>(text.size()));
    to += text;
  }
  void begin_key(const std::string& key, GgufKind kind) {
    ++key_count_;
    put_text(keys_, key);
    put(keys_, static_cast<std::uint32_t>(kind));
  }

  std::string keys_, directory_, data_;
  std::uint64_t key_count_ = 0, tensor_count_ = 0;
};

}  // namespace maxplus
