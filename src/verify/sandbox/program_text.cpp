#include "verify/sandbox/program_text.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"
#include "verify/sandbox/setup_failure.hpp"

namespace maxplus {

namespace {

bool write_all(int file, const char* data, std::size_t bytes) {
  while (bytes > 0) {
    const ssize_t n = ::write(file, data, bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    data += n;
    bytes -= static_cast<std::size_t>(n);
  }
  return true;
}

}  // namespace

Descriptor text_in_memory(std::string_view text) {
  Descriptor file(::memfd_create("maxplus-program", MFD_CLOEXEC));
  if (!file || !write_all(file.number(), text.data(), text.size()))
    throw Error(ExitCode::os, fmt::format("a program's text in memory: {}", std::strerror(errno)));
  return file;
}

void write_program_text(int source, const std::string& path) {
  if (source < 0) return;
  const Descriptor file(::open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0444));
  if (!file) throw SetupFailure("open " + path);
  std::vector<char> block(std::size_t{1} << 16);
  for (off_t at = 0;;) {
    const ssize_t n = ::pread(source, block.data(), block.size(), at);
    if (n < 0) throw SetupFailure("read the program");
    if (n == 0) break;
    if (!write_all(file.number(), block.data(), static_cast<std::size_t>(n))) throw SetupFailure("write " + path);
    at += n;
  }
  (void)!::fchmod(file.number(), 0444);  // whatever the umask
}

}  // namespace maxplus
