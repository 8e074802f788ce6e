#pragma once
// The names in a folder of checkpoints: which are ours, which is the newest, which may go.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace maxplus::checkpoint {

struct Generation {
  std::string name;
  std::int64_t iteration;
};

// The iteration of "iteration-NNNNNN.h5", nothing for any other name.
std::optional<std::int64_t> iteration_of(const std::string& name);

// Regular files of that pattern, newest first. An empty list where there is no folder.
std::vector<Generation> generations(const std::string& folder);

// What the file `latest` names, without its line end; nothing if there is none.
std::optional<std::string> read_pointer(const std::string& folder);
// Moves it, by rename, and flushes both to the disk. Error(io).
void move_pointer(const std::string& folder, const std::string& name);

void sync_path(const std::string& path);  // fsync of a file or folder; Error(io)
// Refuses at once where `bytes` do not fit: free space, then blocks set aside in `path` (made if missing). Error(io).
void reserve(const std::string& path, std::int64_t bytes);

}  // namespace maxplus::checkpoint
