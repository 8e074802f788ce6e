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

}  // namespace
}  // namespace maxplus
