#include "verify/sandbox/scratch_folder.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <memory>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "verify/sandbox/descriptor.hpp"
#include "verify/sandbox/setup_failure.hpp"

namespace maxplus {

namespace {

constexpr int kMaxScratchEntries = 4096, kMaxFolders = 32;

using Folder = std::unique_ptr<DIR, int (*)(DIR*)>;

Folder open_folder(int parent, const char* name) {
  const int file = ::openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  DIR* folder = file < 0 ? nullptr : ::fdopendir(file);
  if (folder == nullptr && file >= 0) ::close(file);
  return Folder(folder, ::closedir);
}

const char* next_name(const Folder& folder) {
  while (const dirent* entry = ::readdir(folder.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") return entry->d_name;
  }
  return nullptr;
}

// Deletes the files of a folder inside `top` and moves its folders up into `top`, so that depth never matters.
bool flatten(int top, const char* name, std::int64_t* moved) {
  (void)!::fchmodat(top, name, 0700, 0);
  const Folder folder = open_folder(top, name);
  if (!folder) return false;
  const int here = ::dirfd(folder.get());
  while (const char* inner = next_name(folder)) {
    if (::unlinkat(here, inner, 0) == 0) continue;
    (void)!::fchmodat(here, inner, 0700, 0);
    const std::string up = fmt::format(".{}", (*moved)++);
    if (::renameat(here, inner, top, up.c_str()) != 0) return false;
  }
  return ::unlinkat(top, name, AT_REMOVEDIR) == 0;
}

}  // namespace

void make_own_folder(const std::string& path) {
  if (::mkdir(path.c_str(), 0755) != 0 && errno != EEXIST) throw SetupFailure("mkdir " + path);
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) throw SetupFailure("lstat " + path);
  errno = EPERM;
  if (!S_ISDIR(status.st_mode) || status.st_uid != ::geteuid()) throw SetupFailure(path);
}

bool remove_tree(const std::string& path) {
  std::int64_t moved = 0;
  for (bool found = true; found;) {
    found = false;
    const Folder top = open_folder(AT_FDCWD, path.c_str());
    if (!top) return errno == ENOENT;
    std::vector<std::string> folders;
    while (const char* name = next_name(top)) {
      if (::unlinkat(::dirfd(top.get()), name, 0) != 0) folders.emplace_back(name);
    }
    for (const std::string& name : folders) {
      found = true;
      if (!flatten(::dirfd(top.get()), name.c_str(), &moved)) return false;
    }
  }
  return ::rmdir(path.c_str()) == 0;
}

bool holds_more_than(const std::string& path, std::int64_t bytes) {
  struct Level {
    Folder folder;
  };
  std::vector<Level> stack;
  stack.push_back({open_folder(AT_FDCWD, path.c_str())});
  if (!stack.back().folder) return false;
  std::int64_t sum = 0;
  int entries = 0;
  while (!stack.empty()) {
    const char* name = next_name(stack.back().folder);
    if (name == nullptr) {
      stack.pop_back();
      continue;
    }
    struct stat status {};
    if (::fstatat(::dirfd(stack.back().folder.get()), name, &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
    sum += 512 * static_cast<std::int64_t>(status.st_blocks);
    if (sum > bytes || ++entries > kMaxScratchEntries) return true;
    if (!S_ISDIR(status.st_mode)) continue;
    if (stack.size() >= static_cast<std::size_t>(kMaxFolders)) return true;
    Folder inner = open_folder(::dirfd(stack.back().folder.get()), name);
    if (inner) stack.push_back({std::move(inner)});
  }
  return false;
}

}  // namespace maxplus
