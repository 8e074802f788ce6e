#pragma once
// One run a folder: two at once would write the same records and remove each other's checkpoints.

#include <string>

namespace maxplus {

// An advisory lock of the folder itself, so that nothing is left behind; it goes with the process, however that ends.
class FolderLock {
 public:
  FolderLock() = default;
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

  // Whether no other process holds the folder; waits so long for one that is about to end. On a file system that knows
  // no locks the answer is yes.
  bool take(const std::string& folder, double wait_s);

 private:
  int file_ = -1;
};

}  // namespace maxplus
