// A state machine over the events of the JSON parser.
#include "io/safetensors_header.hpp"

#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.hpp"

namespace maxplus {

namespace {

constexpr std::size_t kMostNumbers = 32;  // extents of a tensor, far beyond any

class HeaderEvents : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit HeaderEvents(SafetensorsHeader& header) : header_(header) {}
  const std::string& fault() const { return fault_; }

  bool null() override { return unexpected("null"); }
  bool boolean(bool) override { return unexpected("a truth value"); }
  bool number_integer(number_integer_t value) override { return unexpected(fmt::format("the number {}", value)); }
  bool number_float(number_float_t, const string_t& text) override { return unexpected("the number " + text); }
  bool binary(binary_t&) override { return unexpected("binary data"); }
  bool number_unsigned(number_unsigned_t value) override {
    if (place_ != Place::numbers) return unexpected(fmt::format("the number {}", value));
    std::vector<std::uint64_t>& numbers = field_ == "shape" ? entry().shape : entry().offsets;
    if (numbers.size() == kMostNumbers)
      return fail(fmt::format("tensor '{}': '{}' has more than {} numbers", shown_name(key_), field_, kMostNumbers));
    numbers.push_back(value);
    return true;
  }
  bool string(string_t& value) override {
    if (place_ == Place::metadata) {
      header_.metadata[key_] = value;
      return true;
    }
    if (place_ != Place::entry || field_ != "dtype") return unexpected("a string");
    entry().dtype = value;
    return true;
  }
  bool key(string_t& value) override {
    if (place_ == Place::entry) return begin_field(value);
    key_ = value;
    std::set<std::string>& seen = place_ == Place::metadata ? metadata_keys_ : names_;
    if (!seen.insert(value).second) return fail(fmt::format("the name '{}' stands twice", shown_name(value)));
    return true;
  }
  bool start_object(std::size_t) override {
    if (place_ == Place::outside) {
      place_ = Place::top;
    } else if (place_ == Place::top && key_ == "__metadata__") {
      place_ = Place::metadata;
    } else if (place_ == Place::top) {
      place_ = Place::entry;
      header_.entries.emplace_back();
      entry().name = key_;
      field_.clear();
    } else {
      return unexpected("an object");
    }
    return true;
  }
  bool end_object() override {
    if (place_ == Place::entry) {
      const char* missing = !entry().has_dtype     ? "dtype"
                            : !entry().has_shape   ? "shape"
                            : !entry().has_offsets ? "data_offsets"
                                                   : nullptr;
      if (missing) return fail(fmt::format("tensor '{}': '{}' is missing", shown_name(key_), missing));
    }
    place_ = place_ == Place::top ? Place::outside : Place::top;
    return true;
  }
  bool start_array(std::size_t) override {
    if (place_ != Place::entry || (field_ != "shape" && field_ != "data_offsets")) return unexpected("an array");
    place_ = Place::numbers;
    return true;
  }
  bool end_array() override {
    place_ = Place::entry;
    return true;
  }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception&) override {
    return fail(fmt::format("not valid JSON at byte {} of the header", position));
  }

 private:
  enum class Place { outside, top, metadata, entry, numbers };

  SafetensorsHeader::Entry& entry() { return header_.entries.back(); }

  bool begin_field(const std::string& name) {
    bool* has = name == "dtype"          ? &entry().has_dtype
                : name == "shape"        ? &entry().has_shape
                : name == "data_offsets" ? &entry().has_offsets
                                         : nullptr;
    if (!has) return fail(fmt::format("tensor '{}': unknown field '{}'", shown_name(key_), shown_name(name)));
    if (*has) return fail(fmt::format("tensor '{}': '{}' stands twice", shown_name(key_), name));
    *has = true;
    field_ = name;
    return true;
  }
  bool unexpected(const std::string& what) {
    switch (place_) {
      case Place::outside: return fail(fmt::format("{} where the header's object is expected", what));
      case Place::top: return fail(fmt::format("'{}' is {}, expected an object", shown_name(key_), what));
      case Place::metadata:
        return fail(fmt::format("__metadata__ '{}' is {}, expected a string", shown_name(key_), what));
      case Place::numbers:
        return fail(
            fmt::format("tensor '{}': '{}' holds {}, expected whole numbers from 0", shown_name(key_), field_, what));
      case Place::entry: break;
    }
    return fail(fmt::format("tensor '{}': '{}' is {}", shown_name(key_), field_, what));
  }
  bool fail(std::string text) {
    if (fault_.empty()) fault_ = std::move(text);
    return false;
  }

  SafetensorsHeader& header_;
  Place place_ = Place::outside;
  std::string key_, field_, fault_;
  std::set<std::string> names_, metadata_keys_;
};

}  // namespace

std::string shown_name(const std::string& name) {
  constexpr std::size_t kLongest = 80;
  return name.size() <= kLongest ? name : name.substr(0, kLongest) + "...";
}

SafetensorsHeader parse_safetensors_header(std::string_view json, const std::string& where) {
  SafetensorsHeader header;
  HeaderEvents events(header);
  if (!nlohmann::json::sax_parse(json.begin(), json.end(), &events)) {
    throw Error(ExitCode::data,
                Fault{where, "header: " + events.fault(), "a header as the safetensors format defines it",
                      "fetch or export the file again"});
  }
  return header;
}

}  // namespace maxplus
