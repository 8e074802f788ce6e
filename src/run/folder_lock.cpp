// flock of a folder. The descriptor is closed on exec: what judges start does not hold the run's folder.
#include "run/folder_lock.hpp"

#include <cerrno>
#include <chrono>
#include <thread>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace maxplus {

FolderLock::~FolderLock() {
  if (file_ >= 0) ::close(file_);
}

bool FolderLock::take(const std::string& folder, double wait_s) {
  if (file_ < 0) file_ = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file_ < 0) return true;  // cannot be read: whoever writes there will say why
  const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(wait_s);
  while (::flock(file_, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) return true;
    if (std::chrono::steady_clock::now() >= until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return true;
}

}  // namespace maxplus
