// Opens seeded mutations of a model's files: each must be read to the end or be refused with Error(data), or
// Error(no_input) where an index names another file; and no allocation may be larger than twice the files.
//
//   mutated_files DATA COUNT [FIRST_SEED]
//
// DATA is tests/data. A line a format, `ok` or `not ok`, then how many were read and how many refused.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "io/gguf.hpp"
#include "io/safetensors.hpp"
#include "io/temporary_folder.hpp"
#include "model/gguf_model.hpp"
#include "model/hf_folder.hpp"
#include "run/mutation.hpp"
#include "text/gguf_tokenizer.hpp"
#include "text/hf_tokenizer.hpp"

namespace {

// The largest allocation since it was last set to 0.
std::atomic<std::size_t> largest_allocation{0};

void* counted(std::size_t bytes, std::size_t alignment) {
  std::size_t largest = largest_allocation.load();
  while (bytes > largest && !largest_allocation.compare_exchange_weak(largest, bytes)) {
  }
  void* place = nullptr;
  if (posix_memalign(&place, std::max(alignment, sizeof(void*)), std::max<std::size_t>(bytes, 1)) != 0)
    throw std::bad_alloc();
  return place;
}

}  // namespace

void* operator new(std::size_t bytes) { return counted(bytes, alignof(std::max_align_t)); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return counted(bytes, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  try {
    return counted(bytes, alignof(std::max_align_t));
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void operator delete(void* place) noexcept { std::free(place); }
void operator delete(void* place, const std::nothrow_t&) noexcept { std::free(place); }
void operator delete(void* place, std::size_t) noexcept { std::free(place); }
void operator delete(void* place, std::align_val_t) noexcept { std::free(place); }
void operator delete(void* place, std::size_t, std::align_val_t) noexcept { std::free(place); }

namespace maxplus {
namespace {

namespace fs = std::filesystem;

// What may cost more than twice a small file: a message, a stream's buffer, and the table of all code points (1.06 MiB)
// that a tokenizer's expressions look into.
constexpr std::size_t kSmallAllocation = std::size_t{5} << 18;
constexpr double kLongestSeconds = 5;
constexpr std::size_t kHeaderBytes = 6000;

std::string content_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
void store(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

float touched = 0;  // so that reading is not left out

void read_all(std::shared_ptr<const WeightSource> source, const ModelConfig& config) {
  const WeightPlan plan(config, *source);
  const CheckedWeights checked(std::move(source), plan.weights());
  std::vector<float> values;
  for (std::size_t i = 0; i < plan.weights().parameters().size(); ++i) {
    values.resize(static_cast<std::size_t>(plan.weights().parameters()[i].global_size()));
    checked.read(i, values);
    touched += values.empty() ? 0 : values.back();
  }
}

void use_tokenizer(PublishedTokenizer published, std::int64_t vocabulary) {
  pad_vocabulary(published.description, vocabulary);
  const auto tokenizer = make_bpe_tokenizer(std::move(published.description), published.where);
  try {
    const auto ids = tokenizer->encode("The 12 quick\n brown <|im_end|> foxes", SpecialText::as_tokens);
    touched += static_cast<float>(tokenizer->decode(ids).size());
  } catch (const Error& error) {  // whoever encodes knows the place
    throw Error(error.code(), Fault{published.where, error.faults().front().found, "", ""});
  }
}

void open_gguf_file(const fs::path& path) {
  const auto file = std::make_shared<const GgufFile>(path);
  for (std::size_t i = 0; i < file->tensor_count(); ++i) {
    const GgufTensor tensor = file->tensor(i);
    if (!tensor.data.empty()) touched += static_cast<float>(std::to_integer<int>(tensor.data.back()));
  }
  const ModelConfig config = read_gguf_config(*file);
  read_all(open_gguf_weights(file, config), config);
  if (has_gguf_tokenizer(*file)) use_tokenizer(read_gguf_tokenizer(*file), config.vocabulary);
}

void open_safetensors_file(const fs::path& path) {
  const SafetensorsFile file(path);
  std::vector<float> values;
  for (const SafetensorsEntry& entry : file.entries()) {
    if (!entry.readable_as_f32()) continue;
    values.resize(static_cast<std::size_t>(entry.elements()));
    file.read_f32(entry, values);
    touched += values.empty() ? 0 : values.back();
  }
}

void open_folder(const fs::path& folder) {
  const ModelConfig config = read_hf_config(folder);
  read_all(open_hf_weights(folder), config);
  if (has_hf_tokenizer(folder)) use_tokenizer(read_hf_tokenizer(folder), config.vocabulary);
}

struct Format {
  std::string name;
  std::vector<fs::path> sound;  // files that are mutated
  fs::path target;              // where the mutation goes
  std::function<void()> open;
};

struct Tally {
  int read = 0, refused = 0;
  std::string fault;  // the first
};

std::uintmax_t bytes_beside(const fs::path& target) {
  std::uintmax_t bytes = 0;
  for (const auto& entry : fs::directory_iterator(target.parent_path())) bytes += fs::file_size(entry.path());
  return bytes;
}

// What is wrong with how a file was answered; empty: nothing.
std::string answer(const Format& format, Tally& tally) {
  const std::size_t allowed = std::max<std::size_t>(kSmallAllocation, 2 * bytes_beside(format.target));
  largest_allocation = 0;
  const auto begin = std::chrono::steady_clock::now();
  try {
    format.open();
    ++tally.read;
  } catch (const Error& error) {
    ++tally.refused;
    if (error.code() != ExitCode::data && error.code() != ExitCode::no_input)
      return fmt::format("exit code {}: {}", static_cast<int>(error.code()), error.what());
    for (const Fault& fault : error.faults()) {
      if (fault.where.empty() || fault.found.empty())
        return fmt::format("a fault without place or text: {}", error.what());
      if (fault.found.find('\n') != std::string::npos) return "a fault of two lines: " + fault.found;
    }
  } catch (const std::exception& error) {
    return fmt::format("an exception that is no Error: {}", error.what());
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (seconds > kLongestSeconds) return fmt::format("{:.1f} s", seconds);
  if (largest_allocation > allowed)
    return fmt::format("an allocation of {} bytes, allowed {}", largest_allocation.load(), allowed);
  return {};
}

Tally run_format(const Format& format, std::uint64_t first, std::uint64_t count) {
  Tally tally;
  std::vector<std::string> sound;
  for (const fs::path& path : format.sound) sound.push_back(content_of(path));
  const std::string before = content_of(format.target);
  for (const std::string& bytes : sound) {  // as they are, they must be read
    store(format.target, bytes);
    const std::string fault = answer(format, tally);
    if (!fault.empty() || tally.refused > 0) tally.fault = "the sound file: " + (fault.empty() ? "refused" : fault);
  }
  for (std::uint64_t seed = first; seed < first + count && tally.fault.empty(); ++seed) {
    const std::string& bytes = sound[seed % sound.size()];
    const bool keep_json = bytes.front() == '{' && seed % 4 != 0;
    store(format.target, keep_json ? mutated_json(bytes, seed) : mutated(bytes, kHeaderBytes, seed));
    const std::string fault = answer(format, tally);
    if (!fault.empty()) tally.fault = fmt::format("seed {}: {}", seed, fault);
  }
  store(format.target, before);
  return tally;
}

// A folder with all that a model may have: split weights, tokenizer, template.
void make_folder(const fs::path& data, const fs::path& folder) {
  fs::create_directories(folder);
  const SafetensorsFile weights(data / "models/qwen2/model.safetensors");
  std::vector<std::vector<float>> held;
  std::vector<SafetensorsTensor> part[2];
  nlohmann::json map;
  for (const SafetensorsEntry& entry : weights.entries()) {
    std::vector<float>& values = held.emplace_back(static_cast<std::size_t>(entry.elements()));
    weights.read_f32(entry, values);
    const std::size_t which = held.size() % 2;
    part[which].push_back(
        {entry.name, TensorView(values.data(), DType::f32, Space::host, std::span<const std::int64_t>(entry.extents))});
    map[entry.name] = which == 0 ? "a.safetensors" : "b.safetensors";
  }
  write_safetensors(folder / "a.safetensors", part[0], {});
  write_safetensors(folder / "b.safetensors", part[1], {});
  store(folder / "model.safetensors.index.json", nlohmann::json{{"weight_map", map}}.dump(1));
  nlohmann::json config = nlohmann::json::parse(content_of(data / "models/qwen2/config.json"));
  store(folder / "config.json", config.dump(1));
}

int run_all(const fs::path& data, std::uint64_t count, std::uint64_t first) {
  const TemporaryFolder work;
  const fs::path root = work.path(), folder = root / "folder", text = root / "text", file = root / "file";
  make_folder(data, folder);
  fs::create_directories(text);
  fs::create_directories(file);
  std::vector<fs::path> tokenizers;
  for (const char* name : {"gpt2", "llama3", "qwen2"})
    tokenizers.push_back(data / "tokenizers" / name / "tokenizer.json");
  const auto in_folder = [&](const std::string& name) {
    return Format{name, {folder / name}, folder / name, [&] { open_folder(folder); }};
  };
  const std::vector<Format> formats = {
      {"GGUF",
       {data / "gguf/tiny_llama.q8_0.gguf", data / "gguf/tiny_llama.f32.gguf"},
       file / "x.gguf",
       [&] { open_gguf_file(file / "x.gguf"); }},
      {"safetensors",
       {data / "malformed/st_ok.safetensors", folder / "a.safetensors"},
       file / "x.safetensors",
       [&] { open_safetensors_file(file / "x.safetensors"); }},
      in_folder("config.json"),
      in_folder("model.safetensors.index.json"),
      in_folder("a.safetensors"),
      {"tokenizer.json", tokenizers, text / "tokenizer.json", [&] { use_tokenizer(read_hf_tokenizer(text), 2000); }},
  };
  int failed = 0;
  for (const Format& format : formats) {
    const Tally tally = run_format(format, first, count);
    failed += tally.fault.empty() ? 0 : 1;
    fmt::print("{} mutations of {}{}\n", tally.fault.empty() ? "ok" : "not ok", format.name,
               tally.fault.empty() ? "" : ": " + tally.fault);
    fmt::print("   {} read, {} refused\n", tally.read, tally.refused);
  }
  return failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace maxplus

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fputs("usage: mutated_files DATA COUNT [FIRST_SEED]\n", stderr);
    return 64;
  }
  return maxplus::run_all(argv[1], std::strtoull(argv[2], nullptr, 10),
                          argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1);
}
