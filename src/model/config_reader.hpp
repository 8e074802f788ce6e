#pragma once
// Reads the keys of a published config.json. Faults are gathered, so that one run tells all of them.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/error.hpp"

namespace maxplus {

class ConfigReader {
 public:
  // `object` must outlive the reader. `where` names the file, and the key that holds `object` when it is not the top.
  ConfigReader(const nlohmann::json& object, std::string where);

  // Present and not null: published files write null for what is absent.
  bool has(const std::string& key) const;
  // Present and null: switched off, where a family tells that from absent.
  bool is_null(const std::string& key) const;
  // The value of a required key; 0 after a fault.
  std::int64_t whole(const std::string& key);
  double number(const std::string& key);
  // The fallback where the key is absent or null.
  std::int64_t whole_or(const std::string& key, std::int64_t fallback);
  double number_or(const std::string& key, double fallback);
  bool flag_or(const std::string& key, std::optional<bool> fallback);
  std::string text_or(const std::string& key, const std::string& fallback);
  // A token id, or the first of a list of them; -1 when there is none.
  std::int32_t token_or_none(const std::string& key);

  const nlohmann::json& object() const { return object_; }
  const std::string& where() const { return where_; }
  void fault(std::string found, std::string expected, std::string advice);
  void take_faults(std::vector<Fault> faults);
  // Throws Error(ExitCode::data) with all faults, if there is one.
  void finish() const;

 private:
  void wrong_type(const std::string& key, const std::string& expected);
  void missing(const std::string& key);

  const nlohmann::json& object_;
  std::string where_;
  std::vector<Fault> faults_;
};

}  // namespace maxplus
