#include "io/event_file.hpp"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "io/temporary_folder.hpp"

namespace maxplus {
namespace {

// Vectors of RFC 3720, appendix B.4, and the check value of the Rocksoft catalogue.
TEST(Crc32c, AgreesWithPublishedVectors) {
  EXPECT_EQ(crc32c("123456789"), 0xE3069283u);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8A9136AAu);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62A8AB43u);
  std::string rising, falling;
  for (int i = 0; i < 32; ++i) rising += static_cast<char>(i), falling += static_cast<char>(31 - i);
  EXPECT_EQ(crc32c(rising), 0x46DD794Eu);
  EXPECT_EQ(crc32c(falling), 0x113FDB5Cu);
  EXPECT_EQ(crc32c(""), 0u);
}

TEST(Crc32c, IsMaskedByARotationAndASum) {
  EXPECT_EQ(masked_crc32c("123456789"), ((0xE3069283u >> 15) | (0xE3069283u << 17)) + 0xa282ead8u);
}

std::uint64_t little_endian(const std::string& bytes, std::size_t at, int width) {
  std::uint64_t value = 0;
  for (int i = width - 1; i >= 0; --i) value = value << 8 | static_cast<unsigned char>(bytes.at(at + static_cast<std::size_t>(i)));
  return value;
}

// The payloads, each with both of its checks compared.
std::vector<std::string> records_of(const std::vector<char>& file) {
  const std::string bytes(file.begin(), file.end());
  std::vector<std::string> records;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t length = little_endian(bytes, at, 8);
    EXPECT_EQ(little_endian(bytes, at + 8, 4), masked_crc32c(bytes.substr(at, 8)));
    records.push_back(bytes.substr(at + 12, length));
    EXPECT_EQ(little_endian(bytes, at + 12 + length, 4), masked_crc32c(records.back()));
    at += length + 16;
  }
  return records;
}

TEST(EventFile, WritesTheMessagesByteByByte) {
  const TemporaryFolder folder;
  const std::filesystem::path path = std::filesystem::path(folder.path()) / "events.out.tfevents.1.maxplus";
  EventFile file(path, 1.0);
  const Scalar scalars[] = {{"train/a", 1.5f}, {"b", -2.0f}};
  file.add(2.0, 300, scalars);
  file.commit();
  const std::vector<std::string> records = records_of(bytes_of_file(path.string()));
  ASSERT_EQ(records.size(), 2u);
  const auto text = [](std::string_view literal) { return std::string(literal); };
  EXPECT_EQ(records[0], text({"\x09\x00\x00\x00\x00\x00\x00\xf0\x3f\x1a\x0d" "brain.Event:2", 24}));
  EXPECT_EQ(records[1], text({"\x09\x00\x00\x00\x00\x00\x00\x00\x40\x10\xac\x02\x2a\x1a"
                              "\x0a\x0e\x0a\x07" "train/a" "\x15\x00\x00\xc0\x3f"
                              "\x0a\x08\x0a\x01" "b" "\x15\x00\x00\x00\xc0", 40}));
}

TEST(EventFile, IsNotThereBeforeItIsWhole) {
  const TemporaryFolder folder;
  const std::filesystem::path path = std::filesystem::path(folder.path()) / "events.out.tfevents.1.maxplus";
  { const EventFile file(path, 1.0); }
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

}  // namespace
}  // namespace maxplus
