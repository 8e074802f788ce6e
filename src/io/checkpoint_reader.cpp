// Reading checkpoints: in one process, or shared out over ranks.
#include <algorithm>
#include <filesystem>
#include <new>

#include <fmt/format.h>

#include "base/error.hpp"
#include "io/checkpoint_file.hpp"
#include "io/checkpoint_layout.hpp"
#include "io/hdf5_file.hpp"
#include "io/rank_group.hpp"

namespace maxplus {

namespace {

constexpr std::int64_t kBlocksAtOnce = 16;

[[noreturn]] void damaged(const std::string& path, const std::string& what) {
  throw Error(ExitCode::data, Fault{"", fmt::format("{}: {}", path, what), "a checkpoint as it was written",
                                    "use an older checkpoint; this one was damaged after it had been verified"});
}

// A whole dataset whose size must be possible in a file of this size.
template <class T>
std::vector<T> read_all(const Hdf5File& file, const std::string& name, DType type, std::uintmax_t file_bytes) {
  const auto set = file.find(name);
  if (!set || set->type != type) damaged(file.path(), fmt::format("'{}' is missing or has another type", name));
  if (static_cast<std::uintmax_t>(set->elements) > file_bytes / sizeof(T))
    damaged(file.path(), fmt::format("'{}' is larger than the file", name));
  std::vector<T> values(static_cast<std::size_t>(set->elements));
  if (!values.empty()) file.read(name, type, values.data(), 0, set->elements);
  return values;
}

std::size_t index_of(const CheckpointHeader& header, const std::string& path, const std::string& name,
                     std::size_t elements) {
  for (std::size_t i = 0; i < header.tensors.size(); ++i) {
    const auto& tensor = header.tensors[i];
    if (tensor.name != name) continue;
    if (static_cast<std::size_t>(tensor.elements) == elements) return i;
    throw Error(ExitCode::data,
                Fault{"", fmt::format("{}: '{}' has {} elements", path, name, tensor.elements),
                      fmt::format("{} elements", elements), "use the deck that the checkpoint was written with"});
  }
  throw Error(ExitCode::data, Fault{"", fmt::format("{}: no tensor '{}'", path, name), "a checkpoint of the same model",
                                    "use the deck that the checkpoint was written with"});
}

}  // namespace

struct CheckpointReader::Impl {
  explicit Impl(const std::string& path) : file(Hdf5File::open(path, Hdf5File::Mode::read)) {}

  void read_small();
  void check_tensors();

  Hdf5File file;
  CheckpointHeader header;
  std::vector<std::uint64_t> hashes;
  std::vector<std::size_t> first_hash;  // of each tensor
};

void CheckpointReader::Impl::read_small() {
  const std::uintmax_t bytes = std::filesystem::file_size(file.path());
  const auto header_bytes = read_all<char>(file, "header", DType::u8, bytes);
  const auto state = read_all<char>(file, "state", DType::u8, bytes);
  const auto integers = read_all<std::int64_t>(file, "integers", DType::i64, bytes);
  const auto numbers = read_all<double>(file, "numbers", DType::f64, bytes);
  hashes = read_all<std::uint64_t>(file, "hashes", DType::i64, bytes);
  const auto seal = read_all<std::uint64_t>(file, "seal", DType::i64, bytes);
  const std::string_view text(header_bytes.data(), header_bytes.size()), state_text(state.data(), state.size());
  if (seal.size() != 1 || seal[0] != checkpoint::seal({text, state_text, integers, numbers, hashes})) {
    damaged(file.path(), "the seal over header, state and hashes does not match");
  }
  header = checkpoint::parse_header(file.path(), text);
  header.state = state_text;
  if (integers.size() != header.integers.size() || numbers.size() != header.numbers.size())
    damaged(file.path(), "values are missing");
  std::size_t i = 0;
  for (auto& [name, value] : header.integers) value = integers[i++];
  i = 0;
  for (auto& [name, value] : header.numbers) value = numbers[i++];
}

void CheckpointReader::Impl::check_tensors() {
  if (header.block_elements < 1) damaged(file.path(), "the size of a block is not positive");
  std::size_t at = 0;
  for (const auto& tensor : header.tensors) {
    const auto set = file.find(checkpoint::tensor_dataset(tensor.name));
    if (!set || set->type != DType::f32 || set->elements != tensor.elements) {
      damaged(file.path(), fmt::format("the tensor '{}' is missing or has another size", tensor.name));
    }
    first_hash.push_back(at);
    at += static_cast<std::size_t>(checkpoint::blocks_of(tensor.elements, header.block_elements));
  }
  if (at != hashes.size()) damaged(file.path(), fmt::format("{} hashes for {} blocks", hashes.size(), at));
}

CheckpointReader::CheckpointReader(const std::string& path) {
  try {
    impl_ = std::make_unique<Impl>(path);
    impl_->read_small();
    impl_->check_tensors();
  } catch (const std::bad_alloc&) {
    damaged(path, "a size in it does not fit the memory");
  } catch (const std::filesystem::filesystem_error& error) {
    damaged(path, error.what());
  }
}

CheckpointReader::~CheckpointReader() = default;
CheckpointReader::CheckpointReader(CheckpointReader&&) noexcept = default;
CheckpointReader& CheckpointReader::operator=(CheckpointReader&&) noexcept = default;

const CheckpointHeader& CheckpointReader::header() const { return impl_->header; }

std::int64_t CheckpointReader::blocks(std::size_t tensor) const {
  return checkpoint::blocks_of(impl_->header.tensors[tensor].elements, impl_->header.block_elements);
}

void CheckpointReader::read_blocks(std::size_t tensor, std::int64_t first, std::int64_t last,
                                   std::span<float> out) const {
  const CheckpointHeader& header = impl_->header;
  const auto& entry = header.tensors[tensor];
  const std::int64_t size = header.block_elements;
  const std::int64_t begin = first * size, end = std::min(last * size, entry.elements);
  if (first >= last) return;
  MAXPLUS_REQUIRE(first >= 0 && begin < end && static_cast<std::int64_t>(out.size()) == end - begin,
                  fmt::format("blocks [{}, {}) of '{}' into {} elements", first, last, entry.name, out.size()));
  impl_->file.read(checkpoint::tensor_dataset(entry.name), DType::f32, out.data(), begin, end - begin);
  for (std::int64_t b = first; b < last; ++b) {
    const std::int64_t at = b * size - begin, count = std::min(size, end - b * size);
    const auto values = out.subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(count));
    if (checkpoint::hash_block(entry.name, b, header.iteration, values) !=
        impl_->hashes[impl_->first_hash[tensor] + static_cast<std::size_t>(b)]) {
      damaged(impl_->file.path(), fmt::format("block {} of '{}' does not match its hash", b, entry.name));
    }
  }
}

void CheckpointReader::read(const std::string& name, std::span<float> out) const {
  const std::size_t tensor = index_of(impl_->header, impl_->file.path(), name, out.size());
  read_blocks(tensor, 0, blocks(tensor), out);
}

CheckpointHeader read_checkpoint(const std::string& path, MPI_Comm ranks, std::span<const CheckpointTarget> targets) {
  const RankGroup group(ranks);
  std::optional<CheckpointReader> reader;
  std::vector<std::size_t> index;
  group.agree([&] {
    reader.emplace(path);
    for (const auto& target : targets)
      index.push_back(index_of(reader->header(), path, target.name, target.values.size()));
  });
  const std::int64_t size = reader->header().block_elements;
  const auto part = [&](std::size_t i, int rank) {  // elements of target i that a rank reads
    const RankGroup::Range blocks = group.part(reader->blocks(index[i]), rank);
    const auto all = static_cast<std::int64_t>(targets[i].values.size());
    const std::int64_t begin = std::min(blocks.first * size, all), end = std::min(blocks.last * size, all);
    return targets[i].values.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
  };
  group.agree([&] {
    for (std::size_t i = 0; i < targets.size(); ++i) {
      const RankGroup::Range blocks = group.part(reader->blocks(index[i]), group.rank());
      reader->read_blocks(index[i], blocks.first, blocks.last, part(i, group.rank()));
    }
  });
  for (std::size_t i = 0; i < targets.size(); ++i) {
    for (int r = 0; r < group.size(); ++r) {
      const std::span<float> values = part(i, r);
      group.broadcast(values.data(), values.size_bytes(), r);
    }
  }
  return reader->header();
}

std::optional<std::string> fault_of_checkpoint(const std::string& path, MPI_Comm ranks) {
  const RankGroup group(ranks);
  try {
    group.agree([&] {
      const CheckpointReader reader(path);
      const std::int64_t size = reader.header().block_elements;
      std::vector<float> buffer;
      for (std::size_t t = 0; t < reader.header().tensors.size(); ++t) {
        const RankGroup::Range mine = group.part(reader.blocks(t), group.rank());
        for (std::int64_t b = mine.first; b < mine.last; b += kBlocksAtOnce) {
          const std::int64_t last = std::min(b + kBlocksAtOnce, mine.last);
          buffer.resize(
              static_cast<std::size_t>(std::min(last * size, reader.header().tensors[t].elements) - b * size));
          reader.read_blocks(t, b, last, buffer);
        }
      }
    });
  } catch (const Error& error) {
    return error.faults().front().found;
  }
  return std::nullopt;
}

}  // namespace maxplus
