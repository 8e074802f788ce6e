// Looking up what an opened file holds. The entries have been checked, so they are read again without a check.
#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "base/error.hpp"
#include "io/gguf.hpp"
#include "io/gguf_cursor.hpp"

namespace maxplus {

std::string_view GgufValue::type_name() const {
  if (!list_) return name_of(kind_);
  static constexpr std::string_view kLists[] = {
      "list of u8",   "list of i8",     "list of u16", "list of i16", "list of u32", "list of i32", "list of f32",
      "list of bool", "list of string", "list",        "list of u64", "list of i64", "list of f64"};
  return kLists[static_cast<std::size_t>(kind_)];
}

std::optional<std::int64_t> GgufValue::whole(std::uint64_t i) const {
  const std::byte* from = data_ + i * size_of(kind_);
  switch (kind_) {
    case GgufKind::u8: return load_value<std::uint8_t>(from);
    case GgufKind::i8: return load_value<std::int8_t>(from);
    case GgufKind::u16: return load_value<std::uint16_t>(from);
    case GgufKind::i16: return load_value<std::int16_t>(from);
    case GgufKind::u32: return load_value<std::uint32_t>(from);
    case GgufKind::i32: return load_value<std::int32_t>(from);
    case GgufKind::i64: return load_value<std::int64_t>(from);
    case GgufKind::u64: {
      const auto value = load_value<std::uint64_t>(from);
      if (value > static_cast<std::uint64_t>(INT64_MAX)) return std::nullopt;
      return static_cast<std::int64_t>(value);
    }
    default: return std::nullopt;
  }
}

std::optional<double> GgufValue::number(std::uint64_t i) const {
  const std::byte* from = data_ + i * size_of(kind_);
  if (kind_ == GgufKind::f32) return load_value<float>(from);
  if (kind_ == GgufKind::f64) return load_value<double>(from);
  if (kind_ == GgufKind::u64) return static_cast<double>(load_value<std::uint64_t>(from));
  const std::optional<std::int64_t> value = whole(i);
  return value ? std::optional<double>(static_cast<double>(*value)) : std::nullopt;
}

std::optional<bool> GgufValue::flag(std::uint64_t i) const {
  if (kind_ != GgufKind::boolean) return std::nullopt;
  return std::to_integer<int>(data_[i]) != 0;
}

void GgufValue::for_each_text(const std::function<void(std::string_view)>& visit) const {
  if (kind_ != GgufKind::text) return;
  const std::byte* from = data_;
  for (std::uint64_t i = 0; i < count_; ++i) {
    const std::string_view text = gguf_text_at(from);
    visit(text);
    from += 8 + text.size();
  }
}

std::int64_t GgufTensor::elements() const {
  std::int64_t product = 1;
  for (int d = 0; d < rank; ++d) product *= extents[static_cast<std::size_t>(d)];
  return product;
}

std::span<const std::byte> GgufTensor::row(std::int64_t index) const {
  const auto bytes = static_cast<std::size_t>(extents[0] / type->block_elements * type->block_bytes);
  return data.subspan(static_cast<std::size_t>(index) * bytes, bytes);
}

std::vector<std::int64_t> GgufTensor::extents_slowest_first() const { return {extents.rend() - rank, extents.rend()}; }

GgufValue GgufFile::value(std::size_t i) const {
  const std::byte* from = file_.bytes().data() + keys_[i];
  from += 8 + gguf_text_at(from).size();
  GgufValue value;
  value.kind_ = static_cast<GgufKind>(load_value<std::uint32_t>(from));
  value.data_ = from + 4;
  if (value.kind_ == GgufKind::list) {
    value.list_ = true;
    value.kind_ = static_cast<GgufKind>(load_value<std::uint32_t>(from + 4));
    value.count_ = load_value<std::uint64_t>(from + 8);
    value.data_ = from + 16;
  }
  return value;
}

std::string_view GgufFile::key(std::size_t i) const { return gguf_text_at(file_.bytes().data() + keys_[i]); }

std::optional<GgufValue> GgufFile::find(std::string_view name) const {
  const auto found = std::lower_bound(keys_sorted_.begin(), keys_sorted_.end(), name,
                                      [&](std::uint32_t i, std::string_view wanted) { return key(i) < wanted; });
  if (found == keys_sorted_.end() || key(*found) != name) return std::nullopt;
  return value(*found);
}

void GgufFile::refuse_type(std::string_view name, const GgufValue& value, const std::string& expected) const {
  throw Error(ExitCode::data, Fault{where_, fmt::format("key '{}' is a {}", name, value.type_name()), expected,
                                    "fetch or export the file again"});
}

std::optional<std::int64_t> GgufFile::whole(std::string_view name) const {
  const std::optional<GgufValue> value = find(name);
  if (!value) return std::nullopt;
  const std::optional<std::int64_t> result = value->is_list() ? std::nullopt : value->whole(0);
  if (!result) refuse_type(name, *value, "a whole number below 2^63");
  return result;
}

std::optional<double> GgufFile::number(std::string_view name) const {
  const std::optional<GgufValue> value = find(name);
  if (!value) return std::nullopt;
  const std::optional<double> result = value->is_list() ? std::nullopt : value->number(0);
  if (!result) refuse_type(name, *value, "a number");
  return result;
}

std::optional<bool> GgufFile::flag(std::string_view name) const {
  const std::optional<GgufValue> value = find(name);
  if (!value) return std::nullopt;
  const std::optional<bool> result = value->is_list() ? std::nullopt : value->flag(0);
  if (!result) refuse_type(name, *value, "a bool");
  return result;
}

std::optional<std::string_view> GgufFile::text(std::string_view name) const {
  const std::optional<GgufValue> value = find(name);
  if (!value) return std::nullopt;
  if (value->is_list() || value->kind() != GgufKind::text) refuse_type(name, *value, "a string");
  return gguf_text_at(value->data_);
}

std::optional<std::vector<std::string_view>> GgufFile::texts(std::string_view name) const {
  const std::optional<GgufValue> value = find(name);
  if (!value) return std::nullopt;
  if (!value->is_list() || value->kind() != GgufKind::text) refuse_type(name, *value, "a list of strings");
  std::vector<std::string_view> all;
  all.reserve(value->count());
  value->for_each_text([&](std::string_view text) { all.push_back(text); });
  return all;
}

GgufFile::Entry GgufFile::entry(std::size_t i) const {
  const std::byte* from = file_.bytes().data() + tensors_[i];
  Entry entry;
  GgufTensor& tensor = entry.tensor;
  tensor.name = gguf_text_at(from);
  from += 8 + tensor.name.size();
  tensor.rank = static_cast<int>(load_value<std::uint32_t>(from));
  from += 4;
  for (int d = 0; d < tensor.rank; ++d, from += 8)
    tensor.extents[static_cast<std::size_t>(d)] = load_value<std::int64_t>(from);
  tensor.type = find_gguf_tensor_type(load_value<std::uint32_t>(from));
  entry.offset = load_value<std::uint64_t>(from + 4);
  entry.bytes = static_cast<std::uint64_t>(tensor.elements() / tensor.type->block_elements * tensor.type->block_bytes);
  return entry;
}

GgufTensor GgufFile::tensor(std::size_t i) const {
  Entry found = entry(i);
  found.tensor.data = file_.bytes().subspan(data_begin_ + found.offset, found.bytes);
  return found.tensor;
}

std::string_view GgufFile::tensor_name(std::size_t i) const { return gguf_text_at(file_.bytes().data() + tensors_[i]); }

std::optional<GgufTensor> GgufFile::find_tensor(std::string_view name) const {
  const auto found =
      std::lower_bound(tensors_sorted_.begin(), tensors_sorted_.end(), name,
                       [&](std::uint32_t i, std::string_view wanted) { return tensor_name(i) < wanted; });
  if (found == tensors_sorted_.end() || tensor_name(*found) != name) return std::nullopt;
  return tensor(*found);
}

}  // namespace maxplus
