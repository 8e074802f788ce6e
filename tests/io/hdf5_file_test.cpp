// Files of one process: round trips, and errors that name file and reason.
#include "io/hdf5_file.hpp"

#include <chrono>
#include <cmath>
#include <limits>
#include <thread>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "io/temporary_folder.hpp"

namespace maxplus {
namespace {

template <class Action>
ExitCode code_of_action(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error.code();
  }
  return ExitCode::ok;
}

TEST(Hdf5File, GivesBackWhatWasWrittenInPiecesOfAnySize) {
  const TemporaryFolder folder;
  for (std::size_t piece : {std::size_t{1}, std::size_t{24}, std::size_t{1} << 20}) {
    const std::string path = folder.path() + "/a.h5";
    std::vector<float> f32 = {1.5f, -0.0f, std::numeric_limits<float>::denorm_min(), 3e38f, 7.0f};
    std::vector<std::int64_t> i64 = {std::numeric_limits<std::int64_t>::min(), 0, 42};
    std::vector<double> f64 = {0.1, -1e300};
    {
      Hdf5File file = Hdf5File::create(path);
      file.limit_pieces(piece);
      file.create_dataset("one/two/f32", DType::f32, 7);
      file.create_dataset("i64", DType::i64, 3);
      file.create_dataset("f64", DType::f64, 2);
      file.create_dataset("none", DType::u8, 0);
      file.write("one/two/f32", DType::f32, f32.data(), 1, 5);
      file.write("i64", DType::i64, i64.data(), 0, 3);
      file.write("f64", DType::f64, f64.data(), 0, 2);
      file.set_attribute("count", std::int64_t{-5});
      file.set_attribute("count", std::int64_t{-6});  // replaces
      file.set_attribute("ratio", 0.1);
      file.set_attribute("name", std::string("käse"));
      file.flush();
      file.close();
    }
    const Hdf5File file = Hdf5File::open(path, Hdf5File::Mode::read);
    std::vector<float> f32_read(5, NAN);
    std::vector<std::int64_t> i64_read(3);
    std::vector<double> f64_read(2, NAN);
    file.read("one/two/f32", DType::f32, f32_read.data(), 1, 5);
    file.read("i64", DType::i64, i64_read.data(), 0, 3);
    file.read("f64", DType::f64, f64_read.data(), 0, 2);
    EXPECT_EQ(f32_read, f32);
    EXPECT_TRUE(std::signbit(f32_read[1]));
    EXPECT_EQ(i64_read, i64);
    EXPECT_EQ(f64_read, f64);
    EXPECT_EQ(file.integer_attribute("count"), -6);
    EXPECT_EQ(file.number_attribute("ratio"), 0.1);
    EXPECT_EQ(file.text_attribute("name"), "käse");
    EXPECT_EQ(file.datasets(), (std::vector<std::string>{"f64", "i64", "none", "one/two/f32"}));
    EXPECT_EQ(file.find("none")->elements, 0);
    EXPECT_EQ(file.find("i64")->type, DType::i64);
    EXPECT_FALSE(file.find("other").has_value());
  }
}

TEST(Hdf5File, NamesFileAndReasonWithTheRightCode) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/a.h5";
  EXPECT_EQ(code_of_action([&] { Hdf5File::open(path, Hdf5File::Mode::read); }), ExitCode::no_input);
  EXPECT_EQ(code_of_action([&] { Hdf5File::create(folder.path() + "/no/such/folder/a.h5"); }), ExitCode::io);
  write_file(path, std::vector<char>(5000, 'x'));
  EXPECT_EQ(code_of_action([&] { Hdf5File::open(path, Hdf5File::Mode::read); }), ExitCode::data);
  Hdf5File file = Hdf5File::create(path);
  file.create_dataset("a", DType::f32, 4);
  file.set_attribute("text", std::string("x"));
  std::vector<float> values(8);
  EXPECT_EQ(code_of_action([&] { file.read("b", DType::f32, values.data(), 0, 4); }), ExitCode::data);
  EXPECT_EQ(code_of_action([&] { file.read("a", DType::f32, values.data(), 2, 4); }), ExitCode::data);   // beyond the end
  EXPECT_EQ(code_of_action([&] { file.write("a", DType::f32, values.data(), 2, 4); }), ExitCode::io);
  EXPECT_EQ(code_of_action([&] { file.create_dataset("a", DType::f32, 4); }), ExitCode::io);             // there already
  EXPECT_EQ(code_of_action([&] { file.integer_attribute("none"); }), ExitCode::data);
  EXPECT_EQ(code_of_action([&] { file.integer_attribute("text"); }), ExitCode::data);
  try {
    file.read("b", DType::f32, values.data(), 0, 4);
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(path), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("'b'"), std::string::npos) << error.what();
  }
}

TEST(Hdf5File, HasTheSameBytesWheneverItIsWritten) {
  const TemporaryFolder folder;
  const auto write = [&](const std::string& path) {
    Hdf5File file = Hdf5File::create(path);
    file.create_dataset("group/a", DType::i64, 2);
    const std::int64_t values[2] = {1, 2};
    file.write("group/a", DType::i64, values, 0, 2);
    file.set_attribute("b", std::int64_t{1});
    file.close();
  };
  write(folder.path() + "/1");
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));  // time stamps would count seconds
  write(folder.path() + "/2");
  EXPECT_EQ(bytes_of_file(folder.path() + "/1"), bytes_of_file(folder.path() + "/2"));
}

}  // namespace
}  // namespace maxplus
