// Checkpoints of one process: round trip, damage of every kind, retention, and places that cannot be written.
#include "io/checkpoint_file.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>

#include <sys/mount.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "io/checkpoint_contents.hpp"
#include "io/hdf5_file.hpp"
#include "io/temporary_folder.hpp"

namespace maxplus {
namespace {

constexpr std::int64_t kBlock = 64;
constexpr std::int64_t kLargest = 5000;

CheckpointSettings settings() { return {2, CheckpointVerify::full, kBlock}; }

std::string write(const std::string& folder, std::int64_t iteration, std::set<std::string>& verified) {
  return write_checkpoint(folder, MPI_COMM_SELF, KnownContents(iteration, kLargest).contents, settings(), verified).path;
}

std::vector<std::string> names(const std::string& folder) {
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) found.push_back(entry.path().filename().string());
  std::sort(found.begin(), found.end());
  return found;
}

ExitCode code_of_write(const std::string& folder, const CheckpointContents& contents) {
  std::set<std::string> verified;
  try {
    write_checkpoint(folder, MPI_COMM_SELF, contents, settings(), verified);
  } catch (const Error& error) {
    return error.code();
  }
  return ExitCode::ok;
}

// A small file system of its own; needs the right to mount.
class Mount {
 public:
  Mount(const std::string& path, const char* options, unsigned long flags) : path_(path) {
    std::filesystem::create_directories(path);
    mounted_ = ::mount("none", path.c_str(), "tmpfs", flags, options) == 0;
  }
  ~Mount() {
    if (mounted_) ::umount2(path_.c_str(), MNT_DETACH);
  }
  Mount(const Mount&) = delete;
  Mount& operator=(const Mount&) = delete;
  bool mounted() const { return mounted_; }

 private:
  std::string path_;
  bool mounted_;
};

TEST(Checkpoint, GivesBackEverythingWithoutMpi) {
  const TemporaryFolder folder;
  std::set<std::string> verified;
  const std::string path = write(folder.path() + "/checkpoints", 12, verified);
  EXPECT_EQ(std::filesystem::path(path).filename(), "iteration-000012.h5");
  EXPECT_EQ(difference(path, MPI_COMM_SELF, KnownContents(12, kLargest)), "");
  EXPECT_EQ(names(folder.path() + "/checkpoints"), (std::vector<std::string>{"iteration-000012.h5", "latest"}));
  const CheckpointReader reader(path);  // as `inspect` reads it
  EXPECT_EQ(reader.header().iteration, 12);
  std::vector<float> values(640, NAN);
  reader.read("group.3.weight", values);
  EXPECT_EQ(values, KnownContents(12, kLargest).storage[3]);
  EXPECT_THROW(reader.read("group.9.weight", values), Error);
  EXPECT_THROW(reader.read("group.0.weight", values), Error);  // another size
}

TEST(Checkpoint, NoticesEveryFlippedBitOrHoldsTheSameValues) {
  const TemporaryFolder folder;
  std::set<std::string> verified;
  const std::string path = write(folder.path(), 3, verified);
  const KnownContents known(3, kLargest);
  const std::vector<char> sound = bytes_of_file(path);
  int refused = 0, harmless = 0;
  for (std::uint64_t i = 0; i < 400; ++i) {
    // A quarter each: the first 4 KiB, then anywhere.
    const std::size_t range = i % 4 == 0 ? 4096 : sound.size();
    const std::size_t at = uniform_below(range, 11, Purpose::test, i, 0);
    std::vector<char> bytes = sound;
    bytes[at] = static_cast<char>(bytes[at] ^ (1 << uniform_below(8, 11, Purpose::test, i, 1)));
    write_file(path, bytes);
    try {
      EXPECT_EQ(difference(path, MPI_COMM_SELF, known), "") << "silently wrong after a flip in byte " << at;
      ++harmless;  // in bytes that mean nothing
    } catch (const Error& error) {
      EXPECT_TRUE(error.code() == ExitCode::data) << error.what();
      ++refused;
    }
  }
  EXPECT_GE(refused, 100);
  RecordProperty("refused", refused);
  RecordProperty("harmless", harmless);
}

TEST(Checkpoint, NoticesEveryFlippedByteOfItsTensors) {
  const TemporaryFolder folder;
  std::set<std::string> verified;
  const std::string path = write(folder.path(), 4, verified);
  const KnownContents known(4, kLargest);
  const std::vector<char> sound = bytes_of_file(path);
  const auto* first = reinterpret_cast<const char*>(known.storage[0].data());
  const auto place = std::search(sound.begin(), sound.end(), first, first + 64);
  ASSERT_NE(place, sound.end());
  const auto begin = static_cast<std::size_t>(place - sound.begin());
  for (std::size_t i = 0; i < 150; ++i) {
    std::vector<char> bytes = sound;
    const std::size_t at = begin + i * known.storage[0].size() * sizeof(float) / 150;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x10);
    write_file(path, bytes);
    EXPECT_TRUE(fault_of_checkpoint(path, MPI_COMM_SELF).has_value()) << "byte " << at;
  }
}

TEST(Checkpoint, RefusesTruncatedEmptyMixedAndForeignFiles) {
  const TemporaryFolder folder;
  std::set<std::string> verified;
  const std::string one = write(folder.path(), 1, verified), two = write(folder.path(), 2, verified);
  const std::vector<char> sound = bytes_of_file(two);
  for (std::size_t share = 0; share < 40; ++share) {
    std::vector<char> bytes(sound.begin(), sound.begin() + static_cast<std::ptrdiff_t>(sound.size() * share / 40));
    write_file(two, bytes);
    EXPECT_TRUE(fault_of_checkpoint(two, MPI_COMM_SELF).has_value()) << bytes.size();
  }
  write_file(two, sound);
  EXPECT_FALSE(fault_of_checkpoint(two, MPI_COMM_SELF).has_value());
  {  // a tensor of iteration 1 in the file of iteration 2
    const std::vector<float> other = KnownContents(1, kLargest).storage[3];
    Hdf5File file = Hdf5File::open(two, Hdf5File::Mode::read_write);
    file.write("tensors/group.3.weight", DType::f32, other.data(), 0, 640);
    file.close();
  }
  EXPECT_TRUE(fault_of_checkpoint(two, MPI_COMM_SELF).has_value());
  write_file(two, sound);
  {  // the hashes of another iteration
    const Hdf5File from = Hdf5File::open(one, Hdf5File::Mode::read);
    const std::int64_t blocks = from.find("hashes")->elements;
    std::vector<std::int64_t> hashes(static_cast<std::size_t>(blocks));
    from.read("hashes", DType::i64, hashes.data(), 0, blocks);
    Hdf5File file = Hdf5File::open(two, Hdf5File::Mode::read_write);
    file.write("hashes", DType::i64, hashes.data(), 0, blocks);
    file.close();
  }
  EXPECT_TRUE(fault_of_checkpoint(two, MPI_COMM_SELF).has_value());
  Hdf5File::create(two).close();  // a sound HDF5 file that is none of ours
  EXPECT_TRUE(fault_of_checkpoint(two, MPI_COMM_SELF).has_value());
  EXPECT_TRUE(fault_of_checkpoint(folder.path() + "/iteration-000099.h5", MPI_COMM_SELF).has_value());
}

TEST(Checkpoint, IsNotWrittenWithValuesThatAreNotFinite) {
  const TemporaryFolder folder;
  for (float bad : {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity()}) {
    KnownContents known(1, kLargest);
    known.storage[0].back() = bad;
    EXPECT_EQ(code_of_write(folder.path(), known.contents), ExitCode::numeric);
    EXPECT_TRUE(names(folder.path()).empty());
  }
}

TEST(NewestValidCheckpoint, FallsBackToOlderOnesAndSaysWhatItRefused) {
  const TemporaryFolder folder;
  EXPECT_FALSE(newest_valid_checkpoint(folder.path() + "/none", MPI_COMM_SELF).path.has_value());
  std::set<std::string> verified;
  write(folder.path(), 1, verified);
  const std::string two = write(folder.path(), 2, verified);
  EXPECT_EQ(newest_valid_checkpoint(folder.path(), MPI_COMM_SELF).path, two);
  std::vector<char> bytes = bytes_of_file(two);
  bytes.resize(bytes.size() / 2);
  write_file(two, bytes);
  const ValidCheckpoint found = newest_valid_checkpoint(folder.path(), MPI_COMM_SELF);
  EXPECT_EQ(found.path, folder.path() + "/iteration-000001.h5");
  ASSERT_EQ(found.refused.size(), 1u);
  EXPECT_EQ(found.refused[0].rfind("iteration-000002.h5: ", 0), 0u) << found.refused[0];
}

TEST(NewestValidCheckpoint, PrefersThePointerToHigherNumbersAndSurvivesABadPointer) {
  const TemporaryFolder folder;
  std::set<std::string> verified;
  const std::string five = write(folder.path(), 5, verified);
  std::filesystem::copy_file(five, folder.path() + "/iteration-000009.h5");  // a leftover of another course
  EXPECT_EQ(newest_valid_checkpoint(folder.path(), MPI_COMM_SELF).path, five);
  for (const char* text : {"../../etc/passwd\n", "iteration-000007.h5\n", "", "iteration-5.h5\n"}) {
    write_file(folder.path() + "/latest", std::vector<char>(text, text + std::strlen(text)));
    EXPECT_TRUE(newest_valid_checkpoint(folder.path(), MPI_COMM_SELF).path.has_value()) << text;
  }
}

TEST(Retention, KeepsTheNewestVerifiedOnesAndTouchesNothingElse) {
  const TemporaryFolder folder;
  std::set<std::string> verified;
  for (const char* other : {"iteration-7.h5", "iteration-000000.h5.bak", "notes.txt", "iteration-x00001.h5"}) {
    write_file(folder.path() + "/" + other, {'x'});
  }
  std::filesystem::create_symlink("notes.txt", folder.path() + "/iteration-000000.h5");
  const std::size_t others = names(folder.path()).size();
  for (std::int64_t i = 1; i <= 5; ++i) {
    write(folder.path(), i, verified);
    EXPECT_EQ(names(folder.path()).size(), others + 1 + static_cast<std::size_t>(std::min<std::int64_t>(i, 2)));
  }
  EXPECT_TRUE(std::filesystem::exists(folder.path() + "/iteration-000004.h5"));
  EXPECT_TRUE(std::filesystem::exists(folder.path() + "/iteration-000005.h5"));
  EXPECT_TRUE(std::filesystem::is_symlink(folder.path() + "/iteration-000000.h5"));
}

TEST(Retention, NeverLeavesFewerThanTwoGoodOnesAfterAnyCourseOfDamage) {
  // All sequences of four events: write, write after a restart (nothing known as verified), damage the newest file.
  for (int course = 0; course < 81; ++course) {
    const TemporaryFolder folder;
    std::set<std::string> verified;
    std::int64_t iteration = 0;
    int code = course, good = 0;
    for (int event = 0; event < 4; ++event, code /= 3) {
      if (code % 3 == 2 && iteration > 0) {
        const std::string newest = folder.path() + "/" + checkpoint_name(iteration);
        if (std::filesystem::file_size(newest) > 100) --good;
        write_file(newest, std::vector<char>(10, 'x'));
        verified.clear();  // the run that saw it good is over
        continue;
      }
      if (code % 3 == 1) verified.clear();
      KnownContents known(++iteration, 10);
      write_checkpoint(folder.path(), MPI_COMM_SELF, known.contents, {2, CheckpointVerify::sample, kBlock}, verified);
      good = std::min(good + 1, 2);
      int found = 0;
      for (std::int64_t i = 1; i <= iteration; ++i) {
        const std::string path = folder.path() + "/" + checkpoint_name(i);
        if (std::filesystem::exists(path) && !fault_of_checkpoint(path, MPI_COMM_SELF)) ++found;
      }
      ASSERT_GE(found, good) << "course " << course << ", event " << event;
    }
  }
}

TEST(Checkpoint, SaysIoWhereTheFolderCannotBeMadeOrWritten) {
  const TemporaryFolder folder;
  const KnownContents known(1, kLargest);
  EXPECT_EQ(code_of_write(folder.path() + "/no/such", known.contents), ExitCode::io);
  write_file(folder.path() + "/file", {'x'});
  EXPECT_EQ(code_of_write(folder.path() + "/file", known.contents), ExitCode::io);
  const Mount read_only(folder.path() + "/ro", "size=1m", MS_RDONLY);
  if (!read_only.mounted()) GTEST_SKIP() << "the read-only part needs the right to mount a tmpfs";
  EXPECT_EQ(code_of_write(folder.path() + "/ro", known.contents), ExitCode::io);
}

TEST(Checkpoint, RefusesAFullDiskAtOnceAndKeepsTheOldOne) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/disk";
  const Mount disk(path, "size=6m", 0);
  if (!disk.mounted()) GTEST_SKIP() << "needs the right to mount a tmpfs of 6 MiB";
  std::set<std::string> verified;
  const std::string first = write(path, 1, verified);
  for (std::size_t free_kib : {0, 4, 64, 512, 1024}) {  // levels of filling
    const auto space = std::filesystem::space(path);
    const std::string filler = path + "/filler";
    write_file(filler, std::vector<char>(static_cast<std::size_t>(space.available) - std::min<std::size_t>(space.available, free_kib << 10), 'f'));
    EXPECT_EQ(code_of_write(path, KnownContents(2, kLargest).contents), ExitCode::io) << free_kib;
    EXPECT_EQ(names(path), (std::vector<std::string>{"filler", "iteration-000001.h5", "latest"}));
    EXPECT_EQ(difference(first, MPI_COMM_SELF, KnownContents(1, kLargest)), "");
    std::filesystem::remove(filler);
  }
  EXPECT_EQ(code_of_write(path, KnownContents(2, kLargest).contents), ExitCode::ok);
}

}  // namespace
}  // namespace maxplus
