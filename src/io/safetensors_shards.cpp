#include "io/safetensors_shards.hpp"

#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/strings.hpp"

namespace maxplus {

namespace {

constexpr std::size_t kMostFaults = 20;

[[noreturn]] void refuse_index(const std::string& where, const std::string& found, const std::string& expected) {
  throw Error(ExitCode::data, Fault{where, found, expected, "fetch or export the folder again"});
}

// A file beside the index and nowhere else.
bool is_plain_file_name(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos &&
         name.find('\0') == std::string::npos;
}

// Tensor name to file name.
std::map<std::string, std::string> read_weight_map(const std::filesystem::path& index) {
  const std::string where = index.string();
  const MappedFile file(index);
  std::map<std::string, std::string> map;
  std::string twice, key;
  // Duplicate names are seen only while parsing.
  std::set<std::string> seen;
  const auto watch = [&](int depth, nlohmann::json::parse_event_t event, nlohmann::json& parsed) {
    if (event == nlohmann::json::parse_event_t::key && depth == 1) key = parsed.get<std::string>();
    if (event == nlohmann::json::parse_event_t::key && depth == 2 && key == "weight_map") {
      const std::string name = parsed.get<std::string>();
      if (!seen.insert(name).second && twice.empty()) twice = name;
    }
    return true;
  };
  const nlohmann::json json = nlohmann::json::parse(file.text(), watch, false);
  if (json.is_discarded()) refuse_index(where, "is not valid JSON", "an index of safetensors files");
  if (!twice.empty())
    refuse_index(where, fmt::format("tensor '{}' stands twice", shorten(twice, 80)), "each tensor once");
  if (!json.is_object() || !json.contains("weight_map") || !json["weight_map"].is_object())
    refuse_index(where, "'weight_map' is missing or no object", "tensor names and their files");
  for (const auto& [name, value] : json["weight_map"].items()) {
    if (!value.is_string() || !is_plain_file_name(value.get<std::string>())) {
      refuse_index(where, fmt::format("'weight_map' names no file for tensor '{}'", shorten(name, 80)),
                   "the name of a file in the same folder");
    }
    map[name] = value.get<std::string>();
  }
  if (map.empty()) refuse_index(where, "'weight_map' is empty", "at least one tensor");
  return map;
}

}  // namespace

std::vector<SafetensorsFile> open_safetensors_shards(const std::filesystem::path& index) {
  const std::map<std::string, std::string> map = read_weight_map(index);
  std::set<std::string> names;
  for (const auto& [tensor, file] : map) names.insert(file);
  std::vector<SafetensorsFile> files;
  std::vector<Fault> faults;
  std::map<std::string, std::string> found;  // tensor to file
  const auto fault = [&](const std::string& where, std::string what, std::string expected) {
    if (faults.size() < kMostFaults) faults.push_back({where, std::move(what), std::move(expected), ""});
  };
  for (const std::string& name : names) {
    files.emplace_back(index.parent_path() / name);
    for (const SafetensorsEntry& entry : files.back().entries()) {
      const auto expected = map.find(entry.name);
      if (expected == map.end()) {
        fault(files.back().where(), fmt::format("tensor '{}' is not in the index", shorten(entry.name, 80)), "");
      } else if (expected->second != name) {
        fault(files.back().where(), fmt::format("tensor '{}' stands here", shorten(entry.name, 80)),
              fmt::format("'{}', as the index says", shorten(expected->second, 80)));
      } else {
        found[entry.name] = name;
      }
    }
  }
  for (const auto& [tensor, file] : map) {
    if (!found.contains(tensor)) {
      fault(index.string(), fmt::format("tensor '{}' is not in '{}'", shorten(tensor, 80), shorten(file, 80)),
            "the file that the index names");
    }
  }
  if (!faults.empty()) throw Error(ExitCode::data, std::move(faults));
  return files;
}

std::string write_safetensors_index(const std::map<std::string, std::string>& files, std::uint64_t total_bytes) {
  nlohmann::ordered_json json;
  json["metadata"]["total_size"] = total_bytes;
  json["weight_map"] = files;
  return json.dump(2) + "\n";
}

}  // namespace maxplus
