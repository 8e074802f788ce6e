#include "run/json_lines.hpp"

#include <bit>
#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "base/random.hpp"

namespace maxplus {
namespace {

std::filesystem::path fresh(const std::string& name) {
  const std::filesystem::path path = std::filesystem::path(::testing::TempDir()) / ("maxplus_" + name);
  std::filesystem::remove_all(path);
  return path;
}

std::string content(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void put(const std::filesystem::path& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

TEST(ExactNumber, ReadsBackToTheSameFloat) {
  std::vector<float> values = {0.0f, -0.0f, 0.1f, 1.0f, 3.4e38f, 16777216.0f, 7.038531e-26f};
  for (std::uint64_t i = 0; i < 20000; ++i) {
    const float f = std::bit_cast<float>(random_block(3, Purpose::test, i, 0).word[0]);
    // Threads that compute flush subnormal numbers to zero, so none can come out of a run.
    if (std::isnormal(f)) values.push_back(f);
  }
  const Json read = Json::parse(json_line({{"x", exact_numbers(values)}}));
  for (std::size_t i = 0; i < values.size(); ++i) {
    ASSERT_EQ(std::bit_cast<std::uint32_t>(read["x"][i].get<float>()), std::bit_cast<std::uint32_t>(values[i])) << values[i];
  }
  EXPECT_EQ(json_line({{"x", exact_number(0.1f)}}), "{\"x\":0.1}");
}

TEST(JsonLine, NeverWritesNanOrInfinity) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(json_line({{"a", nan}, {"b", 1.5}, {"c", -infinity}, {"d", {1.0, nan, infinity}}}), "{\"b\":1.5,\"d\":[1.0,null,null]}");
  const std::vector<float> list = {1.0f, std::numeric_limits<float>::quiet_NaN()};
  EXPECT_EQ(json_line({{"x", exact_numbers(list)}}), "{\"x\":[1.0,null]}");
}

TEST(JsonLine, IsOneLineOfValidUtf8) {
  const std::string line = json_line({{"text", "a\nb\xff\"é"}});
  EXPECT_EQ(line.find('\n'), std::string::npos);
  EXPECT_EQ(Json::parse(line)["text"].get<std::string>(), "a\nb\xef\xbf\xbd\"é");
}

TEST(JsonLinesWriter, AppendsWholeLines) {
  const auto path = fresh("append.jsonl");
  JsonLinesWriter(path).write({{"iteration", 1}});
  {
    JsonLinesWriter writer(path);
    writer.write({{"iteration", 2}});
    writer.sync();
  }
  EXPECT_EQ(content(path), "{\"iteration\":1}\n{\"iteration\":2}\n");
}

TEST(JsonLinesWriter, RefusesAFolderThatIsNotThere) {
  try {
    JsonLinesWriter writer(fresh("nowhere") / "x.jsonl");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::cannot_create);
  }
}

TEST(TruncateAfter, KeepsLinesUpToTheIterationAndDropsATornLastLine) {
  const auto path = fresh("cut.jsonl");
  const std::string kept = "{\"iteration\":0}\n{\"phase\":\"warm_start\",\"iteration\":0,\"step\":3}\n{\"step\":1,\"iteration\":1}\n";
  put(path, kept + "{\"iteration\":2}\n{\"iteration\":3}\n{\"iteration\":1,\"torn\":[1,");
  truncate_after(path, 1);
  EXPECT_EQ(content(path), kept);
  put(path, kept + "{\"iteration\":1}");  // whole but without its end: the next line would be glued to it
  truncate_after(path, 9);
  EXPECT_EQ(content(path), kept);
  put(path, kept + std::string("\0\0\0\0\n", 5) + "{\"no\":1}\n");
  truncate_after(path, 9);
  EXPECT_EQ(content(path), kept);
  truncate_after(path, -1);
  EXPECT_EQ(content(path), "");
}

TEST(TruncateAfter, LeavesAnAbsentFileAbsent) {
  const auto path = fresh("absent.jsonl");
  truncate_after(path, 3);
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(KeepLines, KeepsWhatIsAskedFor) {
  const auto path = fresh("keep.jsonl");
  put(path, "{\"phase\":\"warm_start\",\"step\":1}\n{\"phase\":\"warm_start\",\"step\":2}\n{\"iteration\":1}\n");
  keep_lines(path, [](const Json& line) { return line.contains("phase") && line["step"] <= 1; });
  EXPECT_EQ(content(path), "{\"phase\":\"warm_start\",\"step\":1}\n");
}

}  // namespace
}  // namespace maxplus
