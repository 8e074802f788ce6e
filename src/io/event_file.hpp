#pragma once
// Scalars as TensorBoard reads them: a TFRecord file of Event messages.
//
// A record is the length (u64), its masked CRC32C, the bytes, and their masked CRC32C, all little-endian. Of the two
// protobuf messages only the few fields that carry a scalar are written: Event {wall_time = 1, step = 2, file_version
// = 3, summary = 5}, Summary {value = 1}, Value {tag = 1, simple_value = 2}.

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "io/file.hpp"

namespace maxplus {

std::uint32_t crc32c(std::string_view bytes);  // Castagnoli, reflected
// As TFRecord stores it, so that a CRC over data that holds CRCs stays telling.
std::uint32_t masked_crc32c(std::string_view bytes);

struct Scalar {
  std::string tag;
  float value;
};

class EventFile {
 public:
  // TensorBoard takes files whose names hold "tfevents". `wall_time` is in seconds since 1970. Throws
  // Error(cannot_create).
  EventFile(const std::filesystem::path& path, double wall_time);

  // Throw Error(io). A file without commit() is removed.
  void add(double wall_time, std::int64_t step, std::span<const Scalar> scalars);
  void commit() { file_.commit(); }

 private:
  void write_record(std::string_view bytes);
  AtomicFile file_;
};

}  // namespace maxplus
