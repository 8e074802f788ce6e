// The tree is built in a tmpfs that becomes the root; the old root is reached from below until all is bound, then
// unmounted. /proc is not mounted: it would show more than a program needs, and many containers forbid it.
#include "verify/sandbox/namespaces.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>

#include <fmt/format.h>

#include "verify/sandbox/descriptor.hpp"
#include "verify/sandbox/program_text.hpp"
#include "verify/sandbox/setup_failure.hpp"

namespace maxplus {

namespace {

constexpr const char* kBase = "/tmp";  // any folder that is always there; covered in our namespace only
constexpr const char* kOldRoot = "/oldroot";
constexpr unsigned kInnerUser = 1000;
constexpr std::uint64_t kReadOnly = 1, kNoSetUser = 2;
constexpr long kSetMountAttributes = 442;

struct MountAttribute {
  std::uint64_t set, clear, propagation, user_namespace;
};

void write_map(const char* path, const std::string& text) {
  const Descriptor file(::open(path, O_WRONLY | O_CLOEXEC));
  require_done(file && ::write(file.number(), text.data(), text.size()) == static_cast<ssize_t>(text.size()), path);
}

void make_read_only(const std::string& path) {
  const MountAttribute attribute = {kReadOnly | kNoSetUser, 0, 0, 0};
  if (::syscall(kSetMountAttributes, AT_FDCWD, path.c_str(), AT_RECURSIVE, &attribute, sizeof attribute) == 0) return;
  struct statvfs status {};  // an older kernel: flags that are locked must be repeated
  require_done(::statvfs(path.c_str(), &status) == 0, "statvfs " + path);
  unsigned long flags = MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID;
  if (status.f_flag & ST_NODEV) flags |= MS_NODEV;
  if (status.f_flag & ST_NOEXEC) flags |= MS_NOEXEC;
  if (status.f_flag & ST_NOATIME) flags |= MS_NOATIME;
  if (status.f_flag & ST_NODIRATIME) flags |= MS_NODIRATIME;
  if (status.f_flag & ST_RELATIME) flags |= MS_RELATIME;
  require_done(::mount(nullptr, path.c_str(), nullptr, flags, nullptr) == 0, "remount " + path);
}

void make_folders(const std::string& path) {
  for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const std::string part = path.substr(0, end);
    require_done(::mkdir(part.c_str(), 0755) == 0 || errno == EEXIST, "mkdir " + part);
    if (end == std::string::npos) return;
  }
}

enum class Access { read_only, as_it_is };

// Shows what lies at `path` in the old root at the same place of the new one; nothing if it is not there.
void show(const std::string& path, Access access) {
  const std::string source = kOldRoot + path;
  struct stat status {};
  if (::lstat(source.c_str(), &status) != 0) return;
  const std::string parent = std::filesystem::path(path).parent_path().string();
  if (parent != "/") make_folders(parent);
  if (S_ISLNK(status.st_mode)) {
    const std::string target = std::filesystem::read_symlink(source).string();
    require_done(::symlink(target.c_str(), path.c_str()) == 0 || errno == EEXIST, "symlink " + path);
    return;
  }
  if (S_ISDIR(status.st_mode)) {
    make_folders(path);
  } else {
    const Descriptor place(::open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
    require_done(static_cast<bool>(place), "open " + path);
  }
  require_done(::mount(source.c_str(), path.c_str(), nullptr, MS_BIND | MS_REC, nullptr) == 0, "bind " + path);
  if (access == Access::read_only) make_read_only(path);
}

void set_root(Access access) {
  const unsigned long flags = MS_REMOUNT | MS_BIND | MS_NOSUID | MS_NODEV;
  require_done(::mount(nullptr, "/", nullptr, access == Access::read_only ? flags | MS_RDONLY : flags, nullptr) == 0,
               "remount /");
}

}  // namespace

void enter_new_namespaces(UserNamespace users) {
  const unsigned user = ::geteuid(), group = ::getegid();
  const int flags = CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS;
  require_done(::unshare(flags | (users == UserNamespace::own ? CLONE_NEWUSER : 0)) == 0, "unshare");
  if (users == UserNamespace::own) {
    write_map("/proc/self/setgroups", "deny");
    write_map("/proc/self/uid_map", fmt::format("{} {} 1", kInnerUser, user));
    write_map("/proc/self/gid_map", fmt::format("{} {} 1", kInnerUser, group));
  }
  (void)!::sethostname("sandbox", 7);
}

void build_file_tree(const SandboxPolicy& policy, int program) {
  require_done(::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0, "mount private");
  require_done(::mount("tmpfs", kBase, "tmpfs", MS_NOSUID | MS_NODEV, "size=16m,nr_inodes=4096,mode=755") == 0,
               "mount tmpfs");
  require_done(::chdir(kBase) == 0 && ::mkdir(kOldRoot + 1, 0755) == 0, "mkdir oldroot");
  require_done(::syscall(SYS_pivot_root, ".", kOldRoot + 1) == 0, "pivot_root");
  require_done(::chdir("/") == 0, "chdir");
  for (const char* path : kSystemFolders) show(path, Access::read_only);
  for (const char* path : kSystemFiles) show(path, Access::read_only);
  for (const std::string& path : policy.read_only) show(path, Access::read_only);
  for (const char* path : kDevices) show(path, Access::as_it_is);
  write_program_text(program, kProgramPath);
  require_done(::mkdir(kScratch, 0755) == 0, "mkdir work");
  (void)!::symlink(kScratch, "/tmp");
  require_done(::umount2(kOldRoot, MNT_DETACH) == 0 && ::rmdir(kOldRoot) == 0, "umount oldroot");
  set_root(Access::read_only);
}

void renew_program(int program) {
  set_root(Access::as_it_is);
  require_done(::unlink(kProgramPath) == 0 || errno == ENOENT, "unlink the program");
  write_program_text(program, kProgramPath);
  set_root(Access::read_only);
}

void renew_scratch(const SandboxPolicy& policy, unsigned owner) {
  (void)!::umount2(kScratch, MNT_DETACH);
  const std::string options =
      fmt::format("size={}m,nr_inodes=4096,mode=700,uid={},gid={}", policy.files_mb, owner, owner);
  require_done(::mount("tmpfs", kScratch, "tmpfs", MS_NOSUID | MS_NODEV, options.c_str()) == 0, "mount work");
}

}  // namespace maxplus
