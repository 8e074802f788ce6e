#pragma once
// Files of one JSON object a line that grow during a run: metrics, updates, rollouts.
//
// A line is written whole or not at all as far as the file system allows; a crash may leave a torn last line, which the
// cut on resume removes. Numbers read back to the same bits; NaN and infinity are never written as such.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>

#include <nlohmann/json.hpp>

namespace maxplus {

using Json = nlohmann::ordered_json;

// A float as a JSON number of as few digits as read back to the same float; null if it is not finite.
Json exact_number(float value);
Json exact_numbers(std::span<const float> values);

// The object on one line, without the line's end: keys whose number is not finite are left out, in lists they are null;
// bytes that are no UTF-8 become U+FFFD.
std::string json_line(const Json& object);

class JsonLinesWriter {
 public:
  // Appends to the file, which is created if absent. Throws Error(ExitCode::cannot_create).
  explicit JsonLinesWriter(const std::filesystem::path& path);
  ~JsonLinesWriter();
  JsonLinesWriter(const JsonLinesWriter&) = delete;
  JsonLinesWriter& operator=(const JsonLinesWriter&) = delete;

  // Hands the line to the operating system. Throw Error(ExitCode::io).
  void write(const Json& object) { write_text(json_line(object)); }
  void write_text(std::string line);
  void sync();  // and to the disk

 private:
  std::filesystem::path path_;
  int file_ = -1;
};

// Keeps the lines that are whole and of which `keep` says yes, in their order; an absent file is left absent. The file
// is replaced in one step, after its new content is on the disk. Throws Error(ExitCode::io).
void keep_lines(const std::filesystem::path& path, const std::function<bool(const Json&)>& keep);
// Keeps the lines whose "iteration" is at most `iteration`.
void truncate_after(const std::filesystem::path& path, std::int64_t iteration);

}  // namespace maxplus
