#include "rl/sample.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <optional>
#include <type_traits>

#include <fmt/format.h>
#include <xxhash.h>

#include "base/error.hpp"

namespace maxplus {

namespace {

constexpr std::array<std::string_view, 4> kFinishNames = {"stopped", "length", "budget", "aborted"};  // of records
constexpr std::array<std::string_view, kVerdicts> kVerdictNames = {"correct",       "wrong",     "no_answer",
                                                                   "gold_unusable", "timed_out", "crashed"};

template <std::size_t N>
std::size_t place_of(std::string_view name, const std::array<std::string_view, N>& names, std::string_view what) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) {
    throw Error(ExitCode::data, Fault{"", fmt::format("'{}' is not a {}", name, what),
                                      fmt::format("one of {}", fmt::join(names, ", ")), ""});
  }
  return static_cast<std::size_t>(found - names.begin());
}

}  // namespace

std::int64_t common_beginning(const std::vector<std::int32_t>& first, const std::vector<std::int32_t>& prompt,
                              std::int64_t most) {
  const auto own = [](const std::vector<std::int32_t>& tokens) { return static_cast<std::int64_t>(tokens.size()) - 1; };
  const std::int64_t end = std::max<std::int64_t>(0, std::min({most, own(first), own(prompt)}));
  return std::mismatch(first.begin(), first.begin() + end, prompt.begin()).first - first.begin();
}

std::string RolloutId::text() const { return fmt::format("{:06}-{:02}-{:06}-{:04}", iteration, attempt, slot, index); }

RolloutId RolloutId::parse(std::string_view text) {
  RolloutId id;
  std::uint32_t* const field[4] = {&id.iteration, &id.attempt, &id.slot, &id.index};
  const std::uint32_t limit[4] = {1u << 22, 1u << 8, 1u << 20, 1u << 14};
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  bool good = true;
  for (int i = 0; i < 4 && good; ++i) {
    if (i > 0) good = at < end && *at++ == '-';
    if (!good) break;
    const auto read = std::from_chars(at, end, *field[i]);
    good = read.ec == std::errc() && *field[i] < limit[i];
    at = read.ptr;
  }
  // The text form is unique: what would be written otherwise is refused.
  if (!good || at != end || id.text() != text) {
    throw Error(ExitCode::data, Fault{"", fmt::format("'{}' is not a rollout id", text),
                                      "iteration-attempt-slot-index, as in 000012-00-000003-0007", ""});
  }
  return id;
}

std::string_view name_of(Finish finish) {
  if (finish == Finish::parked) return "parked";
  return finish == Finish::surplus ? "surplus" : kFinishNames.at(static_cast<std::size_t>(finish));
}

Finish finish_of(std::string_view name) {
  return static_cast<Finish>(place_of(name, kFinishNames, "reason why a rollout ended"));
}

std::string_view name_of(Verdict verdict) { return kVerdictNames.at(static_cast<std::size_t>(verdict)); }

Verdict verdict_of(std::string_view name) { return static_cast<Verdict>(place_of(name, kVerdictNames, "verdict")); }

namespace {

// The packed form: a header, then the fields of each experience in the order of the structs, lists with their length in
// front, numbers as they stand in memory (every machine we run on is little-endian).
constexpr std::uint32_t kMagic = 0x5058584du;  // "MXXP"
constexpr std::uint32_t kVersion = 3;

struct Header {
  std::uint32_t magic = kMagic;
  std::uint32_t version = kVersion;
  std::uint64_t experiences = 0;
  std::uint64_t payload_bytes = 0;
  std::uint64_t payload_hash = 0;  // xxh3-64
};

[[noreturn]] void refuse(const std::string& found) {
  throw Error(ExitCode::protocol,
              Fault{"", "packed experiences are damaged: " + found, "",
                    "check that all ranks run the same build, then the network or file they came through"});
}

class Packer {
 public:
  static constexpr bool kReading = false;
  std::vector<std::byte> bytes;

  template <class Number>
  void number(Number& value) {
    static_assert(std::is_arithmetic_v<Number> || std::is_enum_v<Number>);
    append(&value, sizeof(value));
  }
  template <class Number>
  void optional(std::optional<Number>& value) {
    std::vector<Number> values(value ? 1 : 0, value.value_or(Number{}));
    list(values);
  }
  template <class List>
  void list(List& values) {
    std::uint64_t count = values.size();
    number(count);
    append(values.data(), values.size() * sizeof(values[0]));
  }
  void json(Json& value) {
    std::vector<std::uint8_t> cbor = Json::to_cbor(value);
    list(cbor);
  }

 private:
  void append(const void* data, std::size_t size) {
    const auto* first = static_cast<const std::byte*>(data);
    bytes.insert(bytes.end(), first, first + size);
  }
};

class Unpacker {
 public:
  static constexpr bool kReading = true;
  Unpacker(const std::byte* data, std::size_t size) : at_(data), end_(data + size) {}
  bool ended() const { return at_ == end_; }

  template <class Number>
  void number(Number& value) {
    take(&value, sizeof(value));
  }
  template <class Number>
  void optional(std::optional<Number>& value) {
    std::vector<Number> values;
    list(values);
    if (values.size() > 1) refuse("more than one value where one may stand");
    value = values.empty() ? std::nullopt : std::optional<Number>(values.front());
  }
  template <class List>
  void list(List& values) {
    std::uint64_t count = 0;
    number(count);
    if (count > static_cast<std::uint64_t>(end_ - at_) / sizeof(values[0]))
      refuse("a list is longer than the rest of the data");
    values.resize(static_cast<std::size_t>(count));
    take(values.data(), values.size() * sizeof(values[0]));
  }
  void json(Json& value) {
    std::vector<std::uint8_t> cbor;
    list(cbor);
    value = Json::from_cbor(cbor, true, false);
    if (value.is_discarded()) refuse("an answer cannot be read");
  }

 private:
  void take(void* to, std::size_t size) {
    if (size > static_cast<std::size_t>(end_ - at_)) refuse("the data ends too early");
    if (size > 0) std::memcpy(to, at_, size);
    at_ += size;
  }
  const std::byte* at_;
  const std::byte* end_;
};

// The one listing of the fields, for both directions.
template <class Archive>
void visit(Archive& archive, Experience& e) {
  archive.number(e.problem.id);
  archive.list(e.problem.prompt);
  archive.list(e.problem.prompt_text);
  archive.list(e.problem.verifier);
  archive.json(e.problem.answer);
  archive.json(e.problem.extra);
  archive.number(e.rollout.id.iteration);
  archive.number(e.rollout.id.attempt);
  archive.number(e.rollout.id.slot);
  archive.number(e.rollout.id.index);
  archive.number(e.rollout.problem);
  archive.number(e.rollout.group);
  archive.list(e.rollout.token);
  archive.list(e.rollout.log_prob);
  archive.list(e.rollout.version);
  archive.list(e.rollout.trainable);
  archive.number(e.rollout.finish);
  archive.number(e.assessment.reward);
  archive.list(e.assessment.part);
  archive.number(e.assessment.verdict);
  archive.list(e.assessment.extracted);
  archive.list(e.assessment.reference_log_prob);
  archive.list(e.assessment.value);
  archive.optional(e.assessment.greedy_reward);
  archive.list(e.advantage);
  archive.list(e.value_target);
  archive.list(e.proximal_log_prob);
  if constexpr (Archive::kReading) {
    if (e.rollout.finish > Finish::parked) refuse("an unknown reason why a rollout ended");
    if (static_cast<std::size_t>(e.assessment.verdict) >= kVerdictNames.size()) refuse("an unknown verdict");
  }
}

}  // namespace

std::vector<std::byte> pack(const std::vector<Experience>& experiences) {
  Packer packer;
  packer.bytes.resize(sizeof(Header));
  // visit() serves both directions and so takes a mutable experience; the packer only reads it.
  for (const Experience& experience : experiences) visit(packer, const_cast<Experience&>(experience));
  Header header;
  header.experiences = experiences.size();
  header.payload_bytes = packer.bytes.size() - sizeof(Header);
  header.payload_hash = XXH3_64bits(packer.bytes.data() + sizeof(Header), header.payload_bytes);
  std::memcpy(packer.bytes.data(), &header, sizeof(Header));
  return std::move(packer.bytes);
}

std::vector<Experience> unpack(const std::byte* data, std::size_t bytes) {
  Header header;
  if (bytes < sizeof(Header)) refuse(fmt::format("{} bytes are less than a header", bytes));
  std::memcpy(&header, data, sizeof(Header));
  if (header.magic != kMagic) refuse("they do not begin with our mark");
  if (header.version != kVersion) refuse(fmt::format("version {}, this build knows {}", header.version, kVersion));
  const std::size_t payload = bytes - sizeof(Header);
  if (header.payload_bytes != payload) refuse(fmt::format("{} bytes of {} arrived", payload, header.payload_bytes));
  if (header.payload_hash != XXH3_64bits(data + sizeof(Header), payload)) refuse("the checksum does not fit");
  Unpacker unpacker(data + sizeof(Header), payload);
  std::vector<Experience> experiences;
  for (std::uint64_t i = 0; i < header.experiences; ++i) visit(unpacker, experiences.emplace_back());
  if (!unpacker.ended()) refuse("bytes are left over");
  return experiences;
}

}  // namespace maxplus
