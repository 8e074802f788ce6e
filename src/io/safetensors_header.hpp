#pragma once
// The JSON header of a safetensors file, read by events so that duplicates, deep nesting and numbers in other forms
// than plain integers are seen before anything is built.

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace maxplus {

struct SafetensorsHeader {
  struct Entry {
    std::string name, dtype;
    std::vector<std::uint64_t> shape, offsets;
    bool has_dtype = false, has_shape = false, has_offsets = false;
  };
  std::deque<Entry> entries;  // in the order of the header; grows without copies
  std::map<std::string, std::string> metadata;
};

// A name for messages: cut short, for a name in a file may have any length.
std::string shown_name(const std::string& name);

// Throws Error(ExitCode::data) naming `where` and the place in the header.
SafetensorsHeader parse_safetensors_header(std::string_view json, const std::string& where);

}  // namespace maxplus
