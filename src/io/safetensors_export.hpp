#pragma once
// Writing weights as safetensors files by a group of ranks: one file, or several with an index when they grow large.
//
// The plan says where every byte stands and is a function of names, types and extents alone; the ranks then write equal
// shares of the bytes, each into its place. So the files are the same on any number of ranks, and a reader sees them
// under their names only when all of them are complete and on the disk.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "io/rank_group.hpp"
#include "tensor/dtype.hpp"

namespace maxplus {

struct ExportTensor {
  std::string name;
  std::vector<std::int64_t> extents;
  std::int64_t elements() const;
};

struct ExportOptions {
  DType dtype = DType::f32;                     // f32, or bf16: rounded to nearest, ties to even
  std::int64_t file_bytes = 5'000'000'000;      // most data bytes of a file, unless one tensor has more
  std::map<std::string, std::string> metadata;  // of each file
};

struct ExportPlan {
  struct Place {
    std::size_t tensor;    // into the list that was planned
    std::uint64_t offset;  // of its data, from the start of the data
  };
  struct File {
    std::string name;
    std::string header;  // length, JSON and padding: what stands before the data
    std::vector<Place> places;
    std::uint64_t data_bytes = 0;
  };
  DType dtype = DType::f32;
  std::vector<ExportTensor> tensors;
  std::vector<File> files;
  std::string index;  // text of the index; empty for one file
};

// Files are called `stem`.safetensors, or `stem`-00001-of-00003.safetensors and so on. Tensors stand in the given
// order.
ExportPlan plan_export(std::vector<ExportTensor> tensors, const std::string& stem, const ExportOptions& options);

// The values of a tensor, whole; asked for in the order of the plan, each rank only for what it writes. The span is
// used until the next call.
using ExportValues = std::function<std::span<const float>(std::size_t tensor)>;

// Collective over `group`: into an existing folder. Throws on all ranks alike: Error(ExitCode::cannot_create) or
// ExitCode::io. Names change only after the last byte is on the disk. The index is left to the caller.
void write_export(const std::filesystem::path& folder, const ExportPlan& plan, const RankGroup& group,
                  const ExportValues& values);

}  // namespace maxplus
