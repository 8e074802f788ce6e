#pragma once
// A text file read line by line with the care that a file from outside needs: every wrong kind of file is refused with
// a sentence instead of a hang or rubbish, and a line may be of any length.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace maxplus {

inline constexpr std::size_t kMaxLineBytes = std::size_t{64} << 20;

class LineFile {
 public:
  struct Line {
    std::int64_t number = 0;  // from 1
    std::string text;         // without its end (LF or CR LF) and without a byte-order mark
    bool oversized = false;   // longer than kMaxLineBytes: the text is left out
  };

  // Throws Error(no_input) for what is missing, unreadable, a directory, a pipe or a device; Error(data) for UTF-16 and
  // for compressed files.
  explicit LineFile(std::filesystem::path path);
  ~LineFile();
  LineFile(const LineFile&) = delete;
  LineFile& operator=(const LineFile&) = delete;

  // Nothing at the end. Blank lines are returned too. At the end it throws Error(data) if the file changed meanwhile.
  std::optional<Line> next();
  std::string where(std::int64_t number) const;  // "file:line"
  const std::filesystem::path& path() const { return path_; }

 private:
  bool fill();
  void check_head();
  void check_unchanged() const;

  std::filesystem::path path_;
  int descriptor_ = -1;
  std::int64_t size_ = 0, changed_ns_ = 0;
  std::string buffer_;
  std::size_t at_ = 0;
  std::int64_t number_ = 0;
};

// The lines that hold more than blanks. Throws Error(data) for one that is oversized.
struct NumberedLine {
  std::string text, where;
};
std::vector<NumberedLine> filled_lines(const std::filesystem::path& path);

}  // namespace maxplus
