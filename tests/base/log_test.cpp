// Who speaks, where the lines go, and that an event is one line.
#include "base/log.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <string>

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace maxplus {
namespace {

namespace fs = std::filesystem;

std::string contents(const fs::path& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

fs::path fresh_file(const std::string& name) {
  const fs::path file = fs::temp_directory_path() / ("maxplus_log_test_" + std::to_string(getpid()) + "_" + name);
  fs::remove(file);
  return file;
}

TEST(Log, WritesOneLineAnEventToBothPlaces) {
  const fs::path file = fresh_file("rank0");
  testing::internal::CaptureStderr();
  {
    Log log(0, Verbosity::normal);
    log.event("before the file");
    log.open(file);
    log.event("checkpoint saved\nseconds=0.5\n");
    log.warning("clip share is high");
    log.trouble("no progress");
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "maxplus: before the file\nmaxplus: checkpoint saved seconds=0.5\nmaxplus: warning: clip share is high\nmaxplus: rank 0: no progress\n");
  const std::string stamp = R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3} rank=0 )";
  EXPECT_TRUE(std::regex_match(contents(file), std::regex(stamp + "info checkpoint saved seconds=0\\.5\n" + stamp + "warning clip share is high\n" + stamp + "error no progress\n")))
      << contents(file);
  fs::remove(file);
}

TEST(Log, OtherRanksSpeakOnlyInTrouble) {
  const fs::path file = fresh_file("rank3");
  testing::internal::CaptureStderr();
  {
    Log log(3, Verbosity::normal);
    log.open(file);
    log.event("an event");
    log.warning("a warning");
    EXPECT_FALSE(fs::exists(file));
    log.trouble("lost peer");
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "maxplus: rank 3: lost peer\n");
  EXPECT_NE(contents(file).find("rank=3 error lost peer\n"), std::string::npos);
  fs::remove(file);
}

TEST(Log, QuietStillWritesTheFileAndWarns) {
  const fs::path file = fresh_file("quiet");
  testing::internal::CaptureStderr();
  {
    Log log(0, Verbosity::quiet);
    log.open(file);
    log.event("an event");
    log.warning("a warning");
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "maxplus: warning: a warning\n");
  EXPECT_NE(contents(file).find("an event"), std::string::npos);
  fs::remove(file);
}

TEST(Log, AFolderThatCannotHoldItIsExitCode73) {
  Log log(0, Verbosity::quiet);
  try {
    log.open("/dev/null/log.txt");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::cannot_create);
  }
}

}  // namespace
}  // namespace maxplus
