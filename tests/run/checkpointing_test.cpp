// What a resume compares beside the deck.
#include "run/checkpointing.hpp"

#include <gtest/gtest.h>

namespace maxplus {
namespace {

TEST(Checkpointing, AResumeOnOtherProcessorsOrFilesIsRefused) {
  const RunInputs inputs;
  const std::string chains = inputs_record(inputs, ops::Arithmetic::bf16_dot),
                    tiles = inputs_record(inputs, ops::Arithmetic::bf16_tiles);
  EXPECT_TRUE(changed_inputs("run", chains, chains).empty());

  const std::vector<Fault> other = changed_inputs("run", chains, tiles);
  ASSERT_EQ(other.size(), 1u);
  EXPECT_EQ(other[0].found, "the processors here compute in \"bf16_tiles\", so the bits would change");
  EXPECT_EQ(other[0].expected, "\"bf16_dot\"");

  RunInputs wider;
  wider.model.config.width = inputs.model.config.width + 16;
  const std::vector<Fault> network = changed_inputs("run", chains, inputs_record(wider, ops::Arithmetic::bf16_dot));
  ASSERT_EQ(network.size(), 1u);
  EXPECT_EQ(network[0].found, "the network differs from what this run was begun with");
}

TEST(Checkpointing, BytesOfAnyLengthStandInNumbersThatAreFinite) {
  for (std::size_t size = 0; size < 20; ++size) {
    std::vector<std::byte> bytes;
    for (std::size_t i = 0; i < size; ++i) bytes.push_back(static_cast<std::byte>(0xFF - 37 * i));
    const std::vector<float> numbers = numbers_of_bytes(bytes);
    for (const float number : numbers) EXPECT_TRUE(number >= 0 && number < 0x1p24f);
    EXPECT_EQ(bytes_of_numbers(numbers, size), bytes);
  }
}

}  // namespace
}  // namespace maxplus
