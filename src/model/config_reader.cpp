// Typed look-ups in a config.json.
#include "model/config_reader.hpp"

#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace maxplus {

namespace {

// A value for messages, cut short; what may nest deeply is only named.
std::string shown(const nlohmann::json& value) {
  if (value.is_structured()) return value.is_array() ? "an array" : "an object";
  const std::string text = value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  return text.size() <= 60 ? text : text.substr(0, 60) + "...";
}

bool is_whole(const nlohmann::json& value) {
  return value.is_number_integer() &&
         (!value.is_number_unsigned() ||
          value.get<std::uint64_t>() <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()));
}

}  // namespace

ConfigReader::ConfigReader(const nlohmann::json& object, std::string where)
    : object_(object), where_(std::move(where)) {
  if (!object_.is_object()) fault(fmt::format("is {}", shown(object_)), "a JSON object", "");
}

bool ConfigReader::has(const std::string& key) const {
  if (!object_.is_object()) return false;
  const auto found = object_.find(key);
  return found != object_.end() && !found->is_null();
}

bool ConfigReader::is_null(const std::string& key) const {
  if (!object_.is_object()) return false;
  const auto found = object_.find(key);
  return found != object_.end() && found->is_null();
}

std::int64_t ConfigReader::whole(const std::string& key) {
  if (!has(key)) missing(key);
  return whole_or(key, 0);
}

double ConfigReader::number(const std::string& key) {
  if (!has(key)) missing(key);
  return number_or(key, 0);
}

std::int64_t ConfigReader::whole_or(const std::string& key, std::int64_t fallback) {
  if (!has(key)) return fallback;
  if (is_whole(object_[key])) return object_[key].get<std::int64_t>();
  wrong_type(key, "a whole number");
  return fallback;
}

double ConfigReader::number_or(const std::string& key, double fallback) {
  if (!has(key)) return fallback;
  if (object_[key].is_number() && std::isfinite(object_[key].get<double>())) return object_[key].get<double>();
  wrong_type(key, "a finite number");
  return fallback;
}

bool ConfigReader::flag_or(const std::string& key, std::optional<bool> fallback) {
  if (has(key) && object_[key].is_boolean()) return object_[key].get<bool>();
  if (has(key))
    wrong_type(key, "true or false");
  else if (!fallback)
    missing(key);
  return fallback.value_or(false);
}

std::string ConfigReader::text_or(const std::string& key, const std::string& fallback) {
  if (!has(key)) return fallback;
  if (object_[key].is_string()) return object_[key].get<std::string>();
  wrong_type(key, "a string");
  return fallback;
}

std::int32_t ConfigReader::token_or_none(const std::string& key) {
  if (!has(key)) return -1;
  const nlohmann::json& value = object_[key];
  const nlohmann::json& first = value.is_array() && !value.empty() ? value.front() : value;
  if (is_whole(first) && first.get<std::int64_t>() >= 0 &&
      first.get<std::int64_t>() <= std::numeric_limits<std::int32_t>::max()) {
    return first.get<std::int32_t>();
  }
  wrong_type(key, "a token id or a list of them");
  return -1;
}

void ConfigReader::fault(std::string found, std::string expected, std::string advice) {
  faults_.push_back({where_, std::move(found), std::move(expected), std::move(advice)});
}

void ConfigReader::take_faults(std::vector<Fault> faults) {
  for (Fault& one : faults) faults_.push_back(std::move(one));
}

void ConfigReader::finish() const {
  if (!faults_.empty()) throw Error(ExitCode::data, faults_);
}

void ConfigReader::wrong_type(const std::string& key, const std::string& expected) {
  fault(fmt::format("'{}' is {}", key, shown(object_[key])), expected, "");
}

void ConfigReader::missing(const std::string& key) {
  fault(fmt::format("'{}' is missing", key), "the key of a published config.json", "");
}

}  // namespace maxplus
