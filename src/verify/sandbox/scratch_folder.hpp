#pragma once
// Scratch folders on disk, where a sandbox has no file tree of its own. What lies in them was left by hostile programs:
// nothing is followed, nothing recurses.

#include <cstdint>
#include <string>

namespace maxplus {

// Throws SetupFailure unless the folder is there and ours.
void make_own_folder(const std::string& path);
// With all below, however deep, whatever its permissions; true if it is gone.
bool remove_tree(const std::string& path);
// Whether the folder holds more than so many bytes, or more entries or levels than a program needs.
bool holds_more_than(const std::string& path, std::int64_t bytes);

}  // namespace maxplus
