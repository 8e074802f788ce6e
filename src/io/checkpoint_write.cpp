// Writing a checkpoint, in the order that checkpoint_file.hpp promises.
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>
#include <xxhash.h>

#include "base/error.hpp"
#include "io/checkpoint_file.hpp"
#include "io/checkpoint_folder.hpp"
#include "io/checkpoint_layout.hpp"
#include "io/fault_hook.hpp"
#include "io/hdf5_file.hpp"
#include "io/rank_group.hpp"

namespace maxplus {

namespace {

using checkpoint::blocks_of;

constexpr auto kBytes = static_cast<std::int64_t>(sizeof(float));  // of an element

class Writer {
 public:
  Writer(const std::string& folder, const RankGroup& group, const CheckpointContents& contents,
         const CheckpointSettings& settings)
      : folder_(folder),
        name_(checkpoint_name(contents.iteration)),
        path_(folder + "/" + name_),
        partial_(path_ + ".partial"),
        group_(group),
        contents_(contents),
        settings_(settings) {}

  CheckpointReport run(std::set<std::string>& verified);

 private:
  RankGroup::Range my_blocks(const CheckpointTensor& tensor) const {
    const std::int64_t blocks = blocks_of(tensor.size(), settings_.block_elements);
    if (tensor.holders.empty()) return group_.part(blocks, group_.rank());
    const auto begin = tensor.holders.begin(), place = std::find(begin, tensor.holders.end(), group_.rank());
    if (place == tensor.holders.end()) return {0, 0};
    return RankGroup::part_of(blocks, static_cast<int>(place - begin), static_cast<int>(tensor.holders.size()));
  }
  // First element of a block, or the end of the tensor.
  std::int64_t begin_of(const CheckpointTensor& tensor, std::int64_t block) const {
    return std::min(block * settings_.block_elements, tensor.size());
  }
  std::span<const float> block(const CheckpointTensor& tensor, std::int64_t b) const {
    const std::int64_t begin = begin_of(tensor, b), end = begin_of(tensor, b + 1);
    return tensor.values.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
  }
  std::int64_t largest_size() const;
  void agree_on_contents();
  void hash_my_blocks();
  void make_folder() const;
  void lay_out();
  void write_parts();
  void write_into(Hdf5File& file) const;
  void write_sealed(Hdf5File& file) const;
  void verify() const;
  void publish() const;
  std::vector<std::string> retire(std::set<std::string>& verified) const;
  bool is_good(const std::string& name, std::set<std::string>& verified) const;

  std::string folder_, name_, path_, partial_;
  const RankGroup& group_;
  const CheckpointContents& contents_;
  const CheckpointSettings& settings_;
  std::string header_;
  std::vector<std::uint64_t> hashes_;
  std::vector<std::int64_t> integers_;
  std::vector<double> numbers_;
};

CheckpointReport Writer::run(std::set<std::string>& verified) {
  const auto start = std::chrono::steady_clock::now();
  agree_on_contents();
  hash_my_blocks();
  try {
    group_.agree_on_root([&] {
      make_folder();
      lay_out();
    });
    write_parts();
    group_.agree([&] { checkpoint::sync_path(partial_); });  // closing has written the superblock once more
    group_.agree([&] { verify(); });
    group_.agree_on_root([&] { publish(); });
  } catch (const Error& error) {
    if (group_.rank() == 0) ::unlink(partial_.c_str());
    if (error.code() != ExitCode::data && error.code() != ExitCode::no_input) throw;
    throw Error(ExitCode::io, error.faults());  // what we have just written does not read back
  }
  verified.insert(name_);
  group_.agree_on_root([&] {
    fault_point("checkpoint_pointer", group_.rank());
    checkpoint::move_pointer(folder_, name_);
  });
  CheckpointReport report;
  report.retired = retire(verified);
  report.path = path_;
  for (const CheckpointTensor& t : contents_.tensors) report.bytes += t.size() * kBytes;
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return report;
}

void Writer::agree_on_contents() {
  MAXPLUS_REQUIRE(settings_.block_elements >= 1, "a block has at least one element");
  group_.agree([&] { header_ = checkpoint::header_text(contents_, settings_.block_elements); });
  for (const auto& [name, value] : contents_.integers) integers_.push_back(value);
  for (const auto& [name, value] : contents_.numbers) numbers_.push_back(value);
  const std::string mine = header_ + contents_.state;
  const std::string of_root = group_.broadcast(mine);
  group_.agree([&] {
    if (mine == of_root) return;
    throw Error(ExitCode::protocol,
                Fault{"", fmt::format("rank {} would write another checkpoint than rank 0", group_.rank()),
                      "equal tensors, names and state on all ranks", "report this as a bug"});
  });
}

void Writer::hash_my_blocks() {
  std::size_t total = 0;
  for (const CheckpointTensor& t : contents_.tensors) {
    total += static_cast<std::size_t>(blocks_of(t.size(), settings_.block_elements));
  }
  hashes_.assign(total, 0);
  group_.agree([&] {
    std::size_t first = 0;
    for (const CheckpointTensor& t : contents_.tensors) {
      const RankGroup::Range mine = my_blocks(t);
      for (std::int64_t b = mine.first; b < mine.last; ++b) {
        const std::span<const float> values = block(t, b);
        std::int64_t bad = 0;
        for (const float v : values) bad += std::isfinite(v) ? 0 : 1;
        if (bad > 0) {
          throw Error(ExitCode::numeric,
                      Fault{"", fmt::format("'{}' has {} values that are not finite", t.name, bad),
                            "finite weights and moments", "the newest checkpoint is still good; resume from it"});
        }
        hashes_[first + static_cast<std::size_t>(b)] = checkpoint::hash_block(t.name, b, contents_.iteration, values);
      }
      first += static_cast<std::size_t>(blocks_of(t.size(), settings_.block_elements));
    }
  });
  group_.combine_bits(hashes_.data(), hashes_.size());
}

// Data, the holes that alignment leaves, and a generous share for the file's own tables.
std::int64_t Writer::largest_size() const {
  constexpr std::int64_t kAlignedAbove = 64 << 10, kAlignment = 1 << 20, kTables = 1 << 20, kTableOfTensor = 1024;
  auto bytes = static_cast<std::int64_t>(header_.size() + contents_.state.size() + hashes_.size() * 8) + kTables;
  for (const CheckpointTensor& t : contents_.tensors) {
    const std::int64_t size = t.size() * kBytes;
    bytes += size + kTableOfTensor + (size > kAlignedAbove ? kAlignment : 0);
  }
  return bytes;
}

void Writer::make_folder() const {
  if (::mkdir(folder_.c_str(), 0755) == 0 || errno == EEXIST) return;
  const std::string reason = std::strerror(errno);
  throw Error(ExitCode::io, Fault{"", fmt::format("cannot make the folder {}: {}", folder_, reason),
                                  "a parent folder that may be written", "choose another [run] out"});
}

// By one process, because then nothing that may fail for want of space needs the other ranks. What the ranks write
// afterwards has its place already.
void Writer::lay_out() {
  fault_point("checkpoint_open", group_.rank());
  ::unlink(partial_.c_str());
  checkpoint::reserve(partial_, largest_size());
  Hdf5File file = Hdf5File::create(partial_);
  checkpoint::reserve(partial_, largest_size());  // creating has given the blocks back
  const auto small = [&](const char* name, DType type, const void* data, std::size_t count) {
    file.create_dataset(name, type, static_cast<std::int64_t>(count));
    if (data != nullptr && count > 0) file.write(name, type, data, 0, static_cast<std::int64_t>(count));
  };
  file.set_attribute("format", checkpoint::kFormat);
  file.set_attribute("iteration", contents_.iteration);
  small("header", DType::u8, header_.data(), header_.size());
  small("state", DType::u8, contents_.state.data(), contents_.state.size());
  small("integers", DType::i64, integers_.data(), integers_.size());
  small("numbers", DType::f64, numbers_.data(), numbers_.size());
  small("hashes", DType::i64, nullptr, hashes_.size());
  small("seal", DType::i64, nullptr, 1);
  for (const CheckpointTensor& t : contents_.tensors) {
    file.create_dataset(checkpoint::tensor_dataset(t.name), DType::f32, t.size());
  }
  file.close();
  checkpoint::reserve(partial_, static_cast<std::int64_t>(std::filesystem::file_size(partial_)));
}

void Writer::write_parts() {
  std::optional<Hdf5File> file;
  group_.agree([&] { file.emplace(Hdf5File::open(partial_, Hdf5File::Mode::read_write, group_.handle())); });
  try {
    write_into(*file);
  } catch (const Error&) {
    if (group_.size() > 1) file->abandon();
    throw;
  }
}

void Writer::write_into(Hdf5File& file) const {
  for (const CheckpointTensor& t : contents_.tensors) {
    group_.agree([&] {
      const RankGroup::Range mine = my_blocks(t);
      const std::int64_t begin = begin_of(t, mine.first), end = begin_of(t, mine.last);
      const float* const values = begin < end ? t.values.data() + begin : nullptr;
      if (t.size() > 0) file.write(checkpoint::tensor_dataset(t.name), DType::f32, values, begin, end - begin);
      fault_point("checkpoint_write", group_.rank());
    });
  }
  write_sealed(file);
  group_.agree([&] {
    file.flush();
    fault_point("checkpoint_flush", group_.rank());
  });
  group_.agree([&] { file.close(); });
}

// The last data to be written; rank 0 gives them, the others take part.
void Writer::write_sealed(Hdf5File& file) const {
  const std::int64_t share = group_.rank() == 0 ? 1 : 0;
  const std::uint64_t seal = checkpoint::seal({header_, contents_.state, integers_, numbers_, hashes_});
  group_.agree([&] {
    if (!hashes_.empty())
      file.write("hashes", DType::i64, hashes_.data(), 0, share * static_cast<std::int64_t>(hashes_.size()));
  });
  group_.agree([&] { file.write("seal", DType::i64, &seal, 0, share); });
}

// What the disk gives back, against what this process meant to write.
void Writer::verify() const {
  const CheckpointReader reader(partial_);
  const CheckpointHeader& header = reader.header();
  if (header.iteration != contents_.iteration || header.state != contents_.state ||
      header.integers != contents_.integers || header.texts != contents_.texts ||
      header.tensors.size() != contents_.tensors.size()) {
    throw Error(ExitCode::io, fmt::format("{} reads back differently from what was written", partial_));
  }
  std::vector<float> buffer;
  const std::uint64_t draw[2] = {static_cast<std::uint64_t>(contents_.iteration),
                                 static_cast<std::uint64_t>(group_.rank())};
  std::uint64_t chosen = hashes_.empty() ? 0 : XXH3_64bits(draw, sizeof draw) % hashes_.size();
  for (std::size_t t = 0; t < contents_.tensors.size(); ++t) {
    const auto blocks = static_cast<std::uint64_t>(reader.blocks(t));
    RankGroup::Range range = my_blocks(contents_.tensors[t]);
    if (settings_.verify == CheckpointVerify::sample) {
      const auto b = static_cast<std::int64_t>(chosen);
      range = chosen < blocks ? RankGroup::Range{b, b + 1} : RankGroup::Range{0, 0};
      chosen -= blocks;  // below zero means a number that no later tensor reaches
    }
    for (std::int64_t b = range.first; b < range.last; ++b) {
      const CheckpointTensor& tensor = contents_.tensors[t];
      buffer.resize(static_cast<std::size_t>(begin_of(tensor, b + 1) - begin_of(tensor, b)));
      reader.read_blocks(t, b, b + 1, buffer);
    }
  }
}

void Writer::publish() const {
  fault_point("checkpoint_rename", group_.rank());
  if (std::rename(partial_.c_str(), path_.c_str()) != 0) {
    const std::string reason = std::strerror(errno);
    throw Error(ExitCode::io,
                Fault{"", fmt::format("cannot rename {} to {}: {}", partial_, name_, reason),
                      "a folder that may be written", "check the folder and the space on its file system"});
  }
  checkpoint::sync_path(folder_);
}

bool Writer::is_good(const std::string& name, std::set<std::string>& verified) const {
  if (verified.count(name) > 0) return true;
  if (fault_of_checkpoint(folder_ + "/" + name, group_.size() > 1 ? group_.handle() : MPI_COMM_SELF)) return false;
  verified.insert(name);
  return true;
}

// Older generations, newest first: what comes after `keep` good ones goes. Newer ones belong to another course of the
// run and stay.
std::vector<std::string> Writer::retire(std::set<std::string>& verified) const {
  std::string list;
  group_.agree_on_root([&] {
    for (const auto& generation : checkpoint::generations(folder_)) {
      if (generation.iteration < contents_.iteration) list += generation.name + "\n";
    }
  });
  list = group_.broadcast(list);
  const int keep = std::max(2, settings_.keep);
  int good = 1;
  std::vector<std::string> retired;
  for (std::size_t at = 0; at < list.size();) {
    const std::size_t end = list.find('\n', at);
    const std::string name = list.substr(at, end - at);
    at = end + 1;
    if (good < keep) {
      good += is_good(name, verified) ? 1 : 0;
      continue;
    }
    group_.agree_on_root([&] {
      fault_point("checkpoint_retention", group_.rank());
      if (::unlink((folder_ + "/" + name).c_str()) == 0 || errno == ENOENT) return;
      throw Error(ExitCode::io, fmt::format("cannot remove {}/{}: {}", folder_, name, std::strerror(errno)));
    });
    verified.erase(name);
    retired.push_back(name);
  }
  return retired;
}

}  // namespace

CheckpointReport write_checkpoint(const std::string& folder, MPI_Comm ranks, const CheckpointContents& contents,
                                  const CheckpointSettings& settings, std::set<std::string>& verified) {
  const RankGroup group(ranks);
  return Writer(folder, group, contents, settings).run(verified);
}

}  // namespace maxplus
