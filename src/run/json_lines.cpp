#include "run/json_lines.hpp"

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>

#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/error.hpp"

namespace maxplus {

namespace {

[[noreturn]] void fail(ExitCode code, const std::filesystem::path& path, std::string_view what, int error) {
  throw Error(
      code,
      Fault{path.string(), fmt::format("cannot {}: {}", what, std::strerror(error)), "",
            error == ENOSPC || error == EDQUOT ? "free space on that file system, then start the run again" : ""});
}

void write_all(int file, std::string_view text, const std::filesystem::path& path) {
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(ExitCode::io, path, "write", errno);
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace

Json exact_number(float value) {
  if (!std::isfinite(value)) return nullptr;
  char text[32];
  const auto printed = std::to_chars(text, text + sizeof(text), value);
  double shortest = 0;
  std::from_chars(text, printed.ptr, shortest);
  // A reader goes through double; where that rounds twice to another float, all digits are needed.
  return static_cast<float>(shortest) == value ? shortest : static_cast<double>(value);
}

Json exact_numbers(std::span<const float> values) {
  Json list = Json::array();
  for (const float value : values) list.push_back(exact_number(value));
  return list;
}

std::string json_line(const Json& object) {
  Json kept = Json::object();
  for (const auto& [key, value] : object.items()) {
    if (!value.is_number_float() || std::isfinite(value.get<double>())) kept[key] = value;
  }
  return kept.dump(-1, ' ', false, Json::error_handler_t::replace);
}

JsonLinesWriter::JsonLinesWriter(const std::filesystem::path& path) : path_(path) {
  file_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file_ < 0) fail(ExitCode::cannot_create, path_, "open for writing", errno);
}

JsonLinesWriter::~JsonLinesWriter() {
  if (file_ >= 0) ::close(file_);
}

void JsonLinesWriter::write_text(std::string line) {
  MAXPLUS_REQUIRE(line.find('\n') == std::string::npos, "a line has no line end");
  line += '\n';
  write_all(file_, line, path_);
}

void JsonLinesWriter::sync() {
  if (::fsync(file_) != 0) fail(ExitCode::io, path_, "write to disk", errno);
}

void keep_lines(const std::filesystem::path& path, const std::function<bool(const Json&)>& keep) {
  if (!std::filesystem::exists(path)) return;
  std::ifstream old(path, std::ios::binary);
  if (!old) fail(ExitCode::io, path, "read", errno);
  std::filesystem::path temporary = path;
  temporary += ".part";
  const int file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) fail(ExitCode::io, temporary, "open for writing", errno);
  try {
    std::string line;
    while (std::getline(old, line)) {
      if (old.eof()) break;  // no line end: torn
      const Json value = Json::parse(line, nullptr, false);
      if (value.is_object() && keep(value)) write_all(file, line + '\n', temporary);
    }
    if (::fsync(file) != 0) fail(ExitCode::io, temporary, "write to disk", errno);
  } catch (...) {
    ::close(file);
    throw;
  }
  ::close(file);
  std::error_code error;
  std::filesystem::rename(temporary, path, error);
  if (error) fail(ExitCode::io, path, "replace", error.value());
}

void truncate_after(const std::filesystem::path& path, std::int64_t iteration) {
  keep_lines(path, [&](const Json& line) {
    const auto found = line.find("iteration");
    return found != line.end() && found->is_number_integer() && found->get<std::int64_t>() <= iteration;
  });
}

}  // namespace maxplus
