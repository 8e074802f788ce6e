#include "io/checkpoint_folder.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/error.hpp"
#include "io/checkpoint_file.hpp"

namespace maxplus {

std::string checkpoint_name(std::int64_t iteration) { return fmt::format("iteration-{:06}.h5", iteration); }

namespace checkpoint {

namespace {

[[noreturn]] void refuse(const std::string& what, const std::string& path, int code) {
  throw Error(ExitCode::io, Fault{"", fmt::format("cannot {} {}: {}", what, path, std::strerror(code)),
                                  "a file system with free space that this user may write",
                                  "free space, lower [run] keep_checkpoints, or choose another [run] out"});
}

struct Descriptor {
  explicit Descriptor(int opened) : number(opened) {}
  ~Descriptor() {
    if (number >= 0) ::close(number);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number;
};

}  // namespace

std::optional<std::int64_t> iteration_of(const std::string& name) {
  constexpr std::string_view kBegin = "iteration-", kEnd = ".h5";
  if (name.size() < kBegin.size() + 6 + kEnd.size() || !name.starts_with(kBegin) || !name.ends_with(kEnd))
    return std::nullopt;
  std::int64_t iteration = 0;
  const char* from = name.data() + kBegin.size();
  const char* to = name.data() + name.size() - kEnd.size();
  const auto [end, code] = std::from_chars(from, to, iteration);
  if (code != std::errc() || end != to || checkpoint_name(iteration) != name) return std::nullopt;
  return iteration;
}

std::vector<Generation> generations(const std::string& folder) {
  std::vector<Generation> found;
  std::error_code code;
  for (std::filesystem::directory_iterator it(folder, code), end; !code && it != end; it.increment(code)) {
    const std::string name = it->path().filename().string();
    const auto iteration = iteration_of(name);
    std::error_code unused;
    if (iteration && it->symlink_status(unused).type() == std::filesystem::file_type::regular)
      found.push_back({name, *iteration});
  }
  std::sort(found.begin(), found.end(),
            [](const Generation& a, const Generation& b) { return a.iteration > b.iteration; });
  return found;
}

std::optional<std::string> read_pointer(const std::string& folder) {
  std::ifstream file(folder + "/latest");
  std::string name;
  if (!std::getline(file, name)) return std::nullopt;
  return name;
}

void move_pointer(const std::string& folder, const std::string& name) {
  const std::string path = folder + "/latest", partial = path + ".partial", line = name + "\n";
  {
    const Descriptor file(::open(partial.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
    if (file.number < 0) refuse("create", partial, errno);
    const ssize_t written = ::write(file.number, line.data(), line.size());
    const int code = written < 0 ? errno : ENOSPC;
    if (written != static_cast<ssize_t>(line.size()) || ::fsync(file.number) != 0) {
      const int reason = written == static_cast<ssize_t>(line.size()) ? errno : code;
      ::unlink(partial.c_str());
      refuse("write", partial, reason);
    }
  }
  if (::rename(partial.c_str(), path.c_str()) != 0) {
    const int code = errno;
    ::unlink(partial.c_str());
    refuse("rename to", path, code);
  }
  sync_path(folder);
}

void sync_path(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.number < 0 || ::fsync(file.number) != 0) refuse("flush to the disk", path, errno);
}

void reserve(const std::string& path, std::int64_t bytes) {
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (file.number < 0) refuse("create", path, errno);
  struct statvfs space {};
  struct stat now {};
  if (::fstatvfs(file.number, &space) == 0 && ::fstat(file.number, &now) == 0) {
    // What this file has been given already counts as free.
    const auto free = static_cast<unsigned long long>(space.f_bavail) * space.f_frsize;
    const auto held = static_cast<unsigned long long>(now.st_blocks) * 512;
    if (free + held < static_cast<unsigned long long>(bytes))
      refuse(fmt::format("reserve {} bytes for", bytes), path, ENOSPC);
  }
  if (::fallocate(file.number, FALLOC_FL_KEEP_SIZE, 0, bytes) != 0 && errno != EOPNOTSUPP && errno != ENOSYS) {
    refuse(fmt::format("reserve {} bytes for", bytes), path, errno);
  }
}

}  // namespace checkpoint

}  // namespace maxplus
