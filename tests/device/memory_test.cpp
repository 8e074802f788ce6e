// Owned memory: zeroed, aligned, movable, and refused with its size.
#include "device/memory.hpp"

#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace maxplus {
namespace {

TEST(Memory, IsZeroedAndAlignedWhetherSmallOrMapped) {
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{100}, std::size_t{4097}, (std::size_t{2} << 20) - 1, (std::size_t{5} << 20) + 3}) {
    Memory memory(bytes, Space::host);
    ASSERT_EQ(memory.bytes(), bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.data()) % 64, 0u);
    auto* byte = static_cast<unsigned char*>(memory.data());
    for (std::size_t i = 0; i < bytes; ++i) ASSERT_EQ(byte[i], 0) << "byte " << i << " of " << bytes;
    byte[0] = byte[bytes - 1] = 7;
  }
}

TEST(Memory, MovesAndMayBeEmpty) {
  Memory none(0, Space::host), memory(64, Space::device);
  EXPECT_EQ(none.data(), nullptr);
  void* data = memory.data();
  Memory moved(std::move(memory));
  EXPECT_EQ(moved.data(), data);
  EXPECT_EQ(moved.space(), Space::device);
  none = std::move(moved);
  EXPECT_EQ(none.data(), data);
  EXPECT_EQ(none.bytes(), 64u);
}

TEST(Memory, RefusalNamesTheSize) {
  for (const std::size_t bytes : {std::numeric_limits<std::size_t>::max() / 4, std::numeric_limits<std::size_t>::max()}) {
    try {
      Memory memory(bytes, Space::host);
      FAIL() << "memory was given";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::os);
      EXPECT_NE(std::string(error.what()).find("MiB"), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace maxplus
