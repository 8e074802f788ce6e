#include "io/safetensors_export.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "io/checkpoint_folder.hpp"
#include "io/half.hpp"
#include "io/safetensors_shards.hpp"

namespace maxplus {

namespace {

constexpr std::size_t kHeaderUnit = 8;
constexpr std::size_t kConvertedAtOnce = std::size_t{1} << 18;  // elements

std::string header_of(const ExportPlan& plan, const ExportPlan::File& file,
                      const std::map<std::string, std::string>& metadata) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  if (!metadata.empty()) json["__metadata__"] = metadata;
  for (const ExportPlan::Place& place : file.places) {
    const ExportTensor& tensor = plan.tensors[place.tensor];
    const auto bytes = static_cast<std::uint64_t>(tensor.elements()) * size_of(plan.dtype);
    json[tensor.name] = {{"dtype", plan.dtype == DType::bf16 ? "BF16" : "F32"},
                         {"shape", tensor.extents},
                         {"data_offsets", {place.offset, place.offset + bytes}}};
  }
  std::string text = json.dump();
  text.append((kHeaderUnit - text.size() % kHeaderUnit) % kHeaderUnit, ' ');
  std::string header(kHeaderUnit, '\0');
  for (std::size_t i = 0; i < kHeaderUnit; ++i) header[i] = static_cast<char>(text.size() >> (8 * i));
  return header + text;
}

// A file that several processes write into, each at its own places.
class PartFile {
 public:
  PartFile(std::filesystem::path path, int flags) : path_(std::move(path)) {
    descriptor_ = ::open(path_.c_str(), flags | O_CLOEXEC, 0666);
    if (descriptor_ < 0) {
      throw Error(ExitCode::cannot_create,
                  Fault{path_.string(), fmt::format("cannot be created: {}", std::strerror(errno)),
                        "a folder that can be written to", "check the path and its permissions"});
    }
  }
  ~PartFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;

  void write(const void* data, std::size_t bytes, std::uint64_t place) const {
    const char* from = static_cast<const char*>(data);
    while (bytes > 0) {
      const ssize_t written = ::pwrite(descriptor_, from, bytes, static_cast<off_t>(place));
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) refuse("writing");
      from += written;
      place += static_cast<std::uint64_t>(written);
      bytes -= static_cast<std::size_t>(written);
    }
  }
  void finish() {
    if (::fsync(descriptor_) != 0) refuse("flushing to the disk");
    const int descriptor = std::exchange(descriptor_, -1);
    if (::close(descriptor) != 0) refuse("closing");
  }

 private:
  [[noreturn]] void refuse(const char* what) const {
    throw Error(ExitCode::io, Fault{path_.string(), fmt::format("{} failed: {}", what, std::strerror(errno)), "",
                                    "check the free space and the quota of that file system"});
  }
  std::filesystem::path path_;
  int descriptor_ = -1;
};

std::filesystem::path partial_name(const std::filesystem::path& folder, const ExportPlan::File& file) {
  return folder / (file.name + ".partial");
}

// Elements [first, last) of a tensor, as the file holds them.
void write_elements(const PartFile& file, DType dtype, std::span<const float> values, std::uint64_t place) {
  if (dtype == DType::f32) {
    file.write(values.data(), values.size_bytes(), place);
    return;
  }
  std::vector<std::uint16_t> converted;
  for (std::size_t at = 0; at < values.size(); at += kConvertedAtOnce) {
    const auto part = values.subspan(at, std::min(kConvertedAtOnce, values.size() - at));
    converted.resize(part.size());
    std::transform(part.begin(), part.end(), converted.begin(), bf16_of_float);
    file.write(converted.data(), converted.size() * sizeof(std::uint16_t), place + at * sizeof(std::uint16_t));
  }
}

// This rank's share of the elements of one file.
void write_share(const std::filesystem::path& folder, const ExportPlan& plan, const ExportPlan::File& file,
                 const RankGroup& group, const ExportValues& values) {
  const std::uint64_t unit = size_of(plan.dtype);
  const RankGroup::Range mine = group.part(static_cast<std::int64_t>(file.data_bytes / unit), group.rank());
  PartFile out(partial_name(folder, file), O_WRONLY);
  for (const ExportPlan::Place& place : file.places) {
    const auto begin = static_cast<std::int64_t>(place.offset / unit);
    const std::int64_t count = plan.tensors[place.tensor].elements();
    const std::int64_t first = std::max(mine.first, begin), last = std::min(mine.last, begin + count);
    if (first >= last) continue;
    const std::span<const float> all = values(place.tensor);
    MAXPLUS_REQUIRE(static_cast<std::int64_t>(all.size()) == count, "all values of a tensor");
    write_elements(out, plan.dtype,
                   all.subspan(static_cast<std::size_t>(first - begin), static_cast<std::size_t>(last - first)),
                   file.header.size() + static_cast<std::uint64_t>(first) * unit);
  }
  out.finish();
}

// Reserves the space, so that a full disk is noticed before the ranks write.
void begin_file(const std::filesystem::path& folder, const ExportPlan::File& file) {
  const std::filesystem::path partial = partial_name(folder, file);
  PartFile out(partial, O_WRONLY | O_CREAT | O_TRUNC);
  checkpoint::reserve(partial.string(), static_cast<std::int64_t>(file.header.size() + file.data_bytes));
  out.write(file.header.data(), file.header.size(), 0);
  out.finish();
}

}  // namespace

std::int64_t ExportTensor::elements() const {
  std::int64_t product = 1;
  for (std::int64_t extent : extents) product *= extent;
  return product;
}

ExportPlan plan_export(std::vector<ExportTensor> tensors, const std::string& stem, const ExportOptions& options) {
  MAXPLUS_REQUIRE(options.dtype == DType::f32 || options.dtype == DType::bf16, "f32 or bf16");
  ExportPlan plan;
  plan.dtype = options.dtype;
  plan.tensors = std::move(tensors);
  plan.files.emplace_back();
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < plan.tensors.size(); ++i) {
    const auto bytes = static_cast<std::uint64_t>(plan.tensors[i].elements()) * size_of(plan.dtype);
    const auto most = static_cast<std::uint64_t>(options.file_bytes);
    if (!plan.files.back().places.empty() && plan.files.back().data_bytes + bytes > most) plan.files.emplace_back();
    ExportPlan::File& file = plan.files.back();
    file.places.push_back({i, file.data_bytes});
    file.data_bytes += bytes;
    total += bytes;
  }
  std::map<std::string, std::string> file_of;
  for (std::size_t f = 0; f < plan.files.size(); ++f) {
    ExportPlan::File& file = plan.files[f];
    file.name = plan.files.size() == 1 ? stem + ".safetensors"
                                       : fmt::format("{}-{:05}-of-{:05}.safetensors", stem, f + 1, plan.files.size());
    file.header = header_of(plan, file, options.metadata);
    for (const ExportPlan::Place& place : file.places) {
      const bool is_new = file_of.emplace(plan.tensors[place.tensor].name, file.name).second;
      MAXPLUS_REQUIRE(is_new, fmt::format("tensor '{}' is written twice", plan.tensors[place.tensor].name));
    }
  }
  if (plan.files.size() > 1) plan.index = write_safetensors_index(file_of, total);
  return plan;
}

void write_export(const std::filesystem::path& folder, const ExportPlan& plan, const RankGroup& group,
                  const ExportValues& values) {
  try {
    group.agree_on_root([&] {
      for (const ExportPlan::File& file : plan.files) begin_file(folder, file);
    });
    group.agree([&] {
      for (const ExportPlan::File& file : plan.files) write_share(folder, plan, file, group, values);
    });
    group.agree_on_root([&] {
      for (const ExportPlan::File& file : plan.files) {
        if (::rename(partial_name(folder, file).c_str(), (folder / file.name).c_str()) == 0) continue;
        throw Error(ExitCode::io, Fault{(folder / file.name).string(),
                                        fmt::format("renaming the finished file failed: {}", std::strerror(errno)), "",
                                        "check the folder and its permissions"});
      }
      checkpoint::sync_path(folder.string());
    });
  } catch (const Error&) {
    if (group.rank() == 0) {
      for (const ExportPlan::File& file : plan.files) ::unlink(partial_name(folder, file).c_str());
    }
    throw;
  }
}

}  // namespace maxplus
