// Reading refuses every broken file of tests/data/malformed with one line; writing gives aligned, equal bytes.
#include "io/safetensors.hpp"

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "io/half.hpp"

namespace maxplus {
namespace {

const std::filesystem::path kMalformed = std::filesystem::path(MAXPLUS_TEST_DATA) / "malformed";

std::filesystem::path scratch_file(const std::string& name) {
  const auto folder = std::filesystem::path(::testing::TempDir()) / "maxplus_safetensors_test";
  std::filesystem::create_directories(folder);
  return folder / name;
}

std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

ExitCode code_of(const std::filesystem::path& path) {
  try {
    SafetensorsFile file(path);
  } catch (const Error& error) {
    return error.code();
  }
  return ExitCode::ok;
}

TEST(Safetensors, AcceptsAndRefusesTheListedFiles) {
  const nlohmann::json list = nlohmann::json::parse(bytes_of(kMalformed / "list.json"));
  int seen = 0;
  for (const auto& item : list) {
    const std::string name = item["file"];
    if (name.rfind("st_", 0) != 0) continue;
    ++seen;
    ASSERT_EQ(std::filesystem::file_size(kMalformed / name), item["bytes"].get<std::size_t>()) << name;
    const std::string expect = item["expect"];
    if (expect.rfind("refuse, or accept", 0) == 0) {
      EXPECT_NO_FATAL_FAILURE((void)code_of(kMalformed / name)) << name;
    } else if (expect.rfind("accept", 0) == 0) {
      EXPECT_EQ(code_of(kMalformed / name), ExitCode::ok) << name;
    } else {
      EXPECT_EQ(code_of(kMalformed / name), ExitCode::data) << name << ": " << item["wrong"];
    }
  }
  EXPECT_EQ(seen, 30);
}

TEST(Safetensors, SaysFilePlaceAndFaultInOneLine) {
  try {
    SafetensorsFile file(kMalformed / "st_size_mismatch.safetensors");
    FAIL() << "was accepted";
  } catch (const Error& error) {
    ASSERT_EQ(error.faults().size(), 1u);
    const Fault& fault = error.faults()[0];
    EXPECT_NE(fault.where.find("st_size_mismatch.safetensors"), std::string::npos);
    EXPECT_NE(fault.found.find("tensor 'a'"), std::string::npos) << fault.found;
    EXPECT_NE(fault.found.find("36"), std::string::npos) << fault.found;
    EXPECT_EQ(fault.found.find('\n'), std::string::npos);
  }
}

// Either it is still a valid file, or it is refused as broken; nothing else may happen.
TEST(Safetensors, SurvivesEveryChangedByteOfTheHeaderAndEveryLength) {
  const std::string valid = bytes_of(kMalformed / "st_ok.safetensors");
  const auto path = scratch_file("changed.safetensors");
  const auto try_bytes = [&](const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
    const ExitCode code = code_of(path);
    EXPECT_TRUE(code == ExitCode::ok || code == ExitCode::data) << static_cast<int>(code);
    return code;
  };
  for (std::size_t length = 0; length < valid.size(); ++length) {
    EXPECT_EQ(try_bytes(valid.substr(0, length)), ExitCode::data) << length;
  }
  for (std::size_t at = 0; at < valid.size() - 64; ++at) {
    for (const char put : {'\0', '"', '[', '}', '9', '-', '\xff', '\x01'}) {
      std::string changed = valid;
      changed[at] = put;
      try_bytes(changed);
    }
  }
}

TEST(Safetensors, ReadsTheValidFile) {
  const SafetensorsFile file(kMalformed / "st_ok.safetensors");
  ASSERT_EQ(file.entries().size(), 2u);
  const SafetensorsEntry* b = file.find("b");
  ASSERT_NE(b, nullptr);
  EXPECT_EQ(b->extents, (std::vector<std::int64_t>{2, 4}));
  std::vector<float> values(8, std::numeric_limits<float>::quiet_NaN());
  file.read_f32(*b, values);
  for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(values[i], static_cast<float>(8 + i));
  EXPECT_EQ(file.find("c"), nullptr);
}

TEST(Safetensors, TellsAMissingFileAndAFolderFromABrokenOne) {
  EXPECT_EQ(code_of(kMalformed / "no_such_file.safetensors"), ExitCode::no_input);
  EXPECT_EQ(code_of(kMalformed), ExitCode::no_input);
}

TEST(Safetensors, WritesWhatItReadsInAFixedOrderAndAligned) {
  std::vector<float> floats{1.5f, -0.0f, std::numeric_limits<float>::infinity(), 1e-40f, 7.0f};
  std::vector<std::int64_t> longs{1, -2, 3};
  std::vector<std::uint8_t> bytes{9, 8, 7};
  const auto view = [](auto& values) {
    using T = typename std::remove_reference_t<decltype(values)>::value_type;
    return TensorView(values.data(), DTypeOf<T>::value, Space::host, {static_cast<std::int64_t>(values.size())});
  };
  const SafetensorsTensor a{"a", view(bytes)}, b{"b", view(floats)}, c{"c", view(longs)};
  const SafetensorsTensor none{"none", TensorView(nullptr, DType::f32, Space::host, {0, 5})};
  const auto first = scratch_file("first.safetensors"), second = scratch_file("second.safetensors");
  write_safetensors(first, {a, b, c, none}, {{"format", "pt"}});
  write_safetensors(second, {none, c, b, a}, {{"format", "pt"}});
  EXPECT_EQ(bytes_of(first), bytes_of(second));
  EXPECT_FALSE(std::filesystem::exists(first.string() + ".partial"));

  const SafetensorsFile file(first);
  EXPECT_EQ(file.metadata().at("format"), "pt");
  ASSERT_EQ(file.entries().size(), 4u);
  EXPECT_EQ(file.find("c")->dtype, "I64");
  EXPECT_EQ(std::memcmp(file.find("c")->data.data(), longs.data(), sizeof(std::int64_t) * 3), 0);
  EXPECT_EQ(std::memcmp(file.find("b")->data.data(), floats.data(), sizeof(float) * 5), 0);
  EXPECT_EQ(file.find("none")->extents, (std::vector<std::int64_t>{0, 5}));
  // a mapping begins at a page, so the pointer's alignment is the file offset's
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(file.find("c")->data.data()) % 8, 0u);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(file.find("b")->data.data()) % 8, 0u);
}

TEST(Safetensors, ReadsHalfAndDoubleAsFloat) {
  EXPECT_EQ(float_of_f16(0x3c00), 1.0f);
  EXPECT_EQ(float_of_f16(0xc000), -2.0f);
  EXPECT_EQ(float_of_f16(0x7bff), 65504.0f);
  EXPECT_EQ(float_of_f16(0x0001), 0x1.0p-24f);
  EXPECT_EQ(float_of_f16(0x0400), 0x1.0p-14f);
  EXPECT_TRUE(std::signbit(float_of_f16(0x8000)));
  EXPECT_EQ(float_of_f16(0xfc00), -std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(float_of_f16(0x7e00)));
  EXPECT_EQ(float_of_bf16(0x3f80), 1.0f);
  EXPECT_EQ(float_of_bf16(0xc049), -3.140625f);

  std::vector<double> doubles{0.1, -3.0};
  std::vector<std::uint16_t> halves{0x3f80, 0x4000, 0xbf80};
  const auto path = scratch_file("types.safetensors");
  write_safetensors(path,
                    {{"d", TensorView(doubles.data(), DType::f64, Space::host, {2})},
                     {"h", TensorView(halves.data(), DType::bf16, Space::host, {3})}},
                    {});
  const SafetensorsFile file(path);
  std::vector<float> d(2), h(3);
  file.read_f32(*file.find("d"), d);
  file.read_f32(*file.find("h"), h);
  EXPECT_EQ(d[0], 0.1f);
  EXPECT_EQ(h, (std::vector<float>{1.0f, 2.0f, -1.0f}));
}

TEST(Safetensors, RefusesIntegersWhereFloatsAreAsked) {
  std::vector<std::int32_t> whole{1, 2};
  const auto path = scratch_file("integers.safetensors");
  write_safetensors(path, {{"i", TensorView(whole.data(), DType::i32, Space::host, {2})}}, {});
  const SafetensorsFile file(path);
  std::vector<float> out(2);
  try {
    file.read_f32(*file.find("i"), out);
    FAIL() << "was read";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::data);
  }
}

TEST(Safetensors, SaysWhichFolderCannotBeWritten) {
  try {
    write_safetensors(scratch_file("no/such/folder/x.safetensors"), {}, {});
    FAIL() << "was written";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::cannot_create);
  }
}

}  // namespace
}  // namespace maxplus
