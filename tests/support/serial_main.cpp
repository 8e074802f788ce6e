// main of tests that need no ranks: starts the device's run-time library around them.
#include <gtest/gtest.h>

#include "device/runtime.hpp"

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  maxplus::DeviceRuntime runtime;
  return RUN_ALL_TESTS();
}
