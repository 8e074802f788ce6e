// Reading by large blocks; the kind of file is looked at before it is opened, because opening a pipe would wait for
// ever.
#include "text/line_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include <fmt/format.h>

namespace maxplus {

namespace {

constexpr std::size_t kBlockBytes = std::size_t{1} << 20;

std::int64_t changed_ns(const struct stat& status) {
  return static_cast<std::int64_t>(status.st_mtim.tv_sec) * 1'000'000'000 + status.st_mtim.tv_nsec;
}

[[noreturn]] void fail_input(const std::filesystem::path& path, std::string found, std::string advice) {
  throw Error(ExitCode::no_input, Fault{path.string(), std::move(found), "a readable file", std::move(advice)});
}

void require_regular(const std::filesystem::path& path, const struct stat& status) {
  if (S_ISREG(status.st_mode)) return;
  const char* kind = S_ISDIR(status.st_mode)    ? "is a directory"
                     : S_ISFIFO(status.st_mode) ? "is a pipe"
                                                : "is not a regular file";
  fail_input(path, kind,
             S_ISDIR(status.st_mode) ? "name a file in it" : "write it to a file first: every rank reads it");
}

const char* compression_of(std::string_view head) {
  if (head.starts_with("\x1f\x8b")) return "gzip";
  if (head.starts_with("\x28\xb5\x2f\xfd")) return "zstd";
  if (head.starts_with("\xfd"
                       "7zXZ"))
    return "xz";
  if (head.starts_with("BZh")) return "bzip2";
  if (head.starts_with("PK\x03\x04")) return "zip";
  return nullptr;
}

}  // namespace

LineFile::LineFile(std::filesystem::path path) : path_(std::move(path)) {
  struct stat status {};
  if (::stat(path_.c_str(), &status) != 0)
    fail_input(path_, fmt::format("cannot be found: {}", std::strerror(errno)),
               "check the path; paths in a deck are relative to it");
  require_regular(path_, status);
  descriptor_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor_ < 0)
    fail_input(path_, fmt::format("cannot be opened: {}", std::strerror(errno)), "check its permissions");
  try {
    if (::fstat(descriptor_, &status) != 0) fail_input(path_, std::strerror(errno), "check the file system");
    require_regular(path_, status);
    size_ = status.st_size;
    changed_ns_ = changed_ns(status);
    fill();
    check_head();
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

LineFile::~LineFile() { ::close(descriptor_); }

std::string LineFile::where(std::int64_t number) const { return fmt::format("{}:{}", path_.string(), number); }

bool LineFile::fill() {
  buffer_.erase(0, at_);
  at_ = 0;
  const std::size_t held = buffer_.size();
  buffer_.resize(held + kBlockBytes);
  ssize_t got = 0;
  do {
    got = ::read(descriptor_, buffer_.data() + held, kBlockBytes);
  } while (got < 0 && errno == EINTR);
  if (got < 0)
    throw Error(ExitCode::io, Fault{path_.string(), fmt::format("cannot be read: {}", std::strerror(errno)), "",
                                    "check the file system"});
  buffer_.resize(held + static_cast<std::size_t>(got));
  return got > 0;
}

void LineFile::check_head() {
  const std::string_view head = buffer_;
  if (const char* kind = compression_of(head)) {
    throw Error(ExitCode::data, Fault{where(1), fmt::format("the file is compressed ({})", kind),
                                      "text, one JSON object a line", "unpack it first"});
  }
  const bool marked = head.starts_with("\xff\xfe") || head.starts_with("\xfe\xff");
  const bool zeros = head.size() >= 4 && ((head[1] == '\0' && head[3] == '\0') || (head[0] == '\0' && head[2] == '\0'));
  if (marked || zeros) {
    throw Error(ExitCode::data,
                Fault{where(1), "the file looks like UTF-16", "UTF-8", "convert it: iconv -f UTF-16 -t UTF-8"});
  }
  if (head.starts_with("\xef\xbb\xbf")) at_ = 3;
}

void LineFile::check_unchanged() const {
  struct stat status {};
  if (::fstat(descriptor_, &status) == 0 && status.st_size == size_ && changed_ns(status) == changed_ns_) return;
  throw Error(ExitCode::data, Fault{path_.string(), "the file changed while it was read",
                                    "a file that nobody writes to", "start again when it is complete"});
}

std::optional<LineFile::Line> LineFile::next() {
  Line line;
  std::size_t searched = at_;
  for (;;) {
    const std::size_t end = buffer_.find('\n', searched);
    if (end != std::string::npos) {
      if (!line.oversized) line.text.assign(buffer_, at_, end - at_);
      at_ = end + 1;
      break;
    }
    if (buffer_.size() - at_ > kMaxLineBytes) {
      line.oversized = true;
      at_ = buffer_.size();  // forget what was held, go on to the line's end
    }
    searched = buffer_.size() - at_;  // fill() moves what is held to the front
    if (!fill()) {
      check_unchanged();
      if (at_ == buffer_.size() && !line.oversized) return std::nullopt;
      line.text = buffer_.substr(at_);
      at_ = buffer_.size();
      break;
    }
  }
  line.number = ++number_;
  if (line.text.size() > kMaxLineBytes) line.oversized = true;
  if (line.oversized) line.text.clear();
  if (!line.text.empty() && line.text.back() == '\r') line.text.pop_back();
  return line;
}

std::vector<NumberedLine> filled_lines(const std::filesystem::path& path) {
  std::vector<NumberedLine> lines;
  LineFile file(path);
  while (const std::optional<LineFile::Line> line = file.next()) {
    if (line->oversized)
      throw Error(ExitCode::data, Fault{file.where(line->number), "the line is longer than 64 MiB", "", ""});
    if (line->text.find_first_not_of(" \t") != std::string::npos)
      lines.push_back({line->text, file.where(line->number)});
  }
  return lines;
}

}  // namespace maxplus
