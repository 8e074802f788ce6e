// A mapped file is what it was when it was opened, or an error; never a crash.
#include "io/file.hpp"

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "io/temporary_folder.hpp"

namespace maxplus {
namespace {

class MappedFiles : public ::testing::Test {
 protected:
  MappedFiles() {
    for (int i = 0; i < 100'000; ++i) bytes_ += static_cast<char>(i * 7 + i / 251);
    std::ofstream(path(), std::ios::binary) << bytes_;
  }
  std::filesystem::path path() const { return std::filesystem::path(folder_.path()) / "file"; }

  TemporaryFolder folder_;
  std::string bytes_;
};

TEST_F(MappedFiles, GiveTheSameBytesMappedAndRead) {
  MappedFile first(path());
  const MappedFile file = std::move(first);
  EXPECT_EQ(file.text(), bytes_);
  std::string part(12'345, '?');
  file.will_read(file.bytes().subspan(4'321, part.size()));
  file.read(file.bytes().subspan(4'321, part.size()), part.data());
  file.has_read(file.bytes());
  EXPECT_EQ(part, bytes_.substr(4'321, part.size()));
  EXPECT_EQ(file.text(), bytes_);  // pages that were given back come again
  file.read({}, nullptr);
}

TEST_F(MappedFiles, SayWhenTheFileHasBecomeShorter) {
  const MappedFile file(path());
  std::filesystem::resize_file(path(), 50'000);
  std::string part(1000, '?');
  try {
    file.read(file.bytes().subspan(49'500, part.size()), part.data());
    FAIL() << "was read";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::io);
    EXPECT_NE(error.faults()[0].found.find("at byte 50000"), std::string::npos) << error.faults()[0].found;
  }
}

TEST_F(MappedFiles, MayBeEmpty) {
  std::filesystem::resize_file(path(), 0);
  EXPECT_TRUE(MappedFile(path()).text().empty());
}

}  // namespace
}  // namespace maxplus
