#include "roles/collected.hpp"

#include <cstring>
#include <type_traits>
#include <utility>

#include "base/error.hpp"

namespace maxplus {

namespace {

static_assert(std::is_trivially_copyable_v<Collected::Facts>);

void put(std::vector<std::byte>* out, const void* data, std::size_t size) {
  const auto* const first = static_cast<const std::byte*>(data);
  out->insert(out->end(), first, first + size);
}

void put_sized(std::vector<std::byte>* out, std::span<const std::byte> bytes) {
  const std::uint64_t size = bytes.size();
  put(out, &size, sizeof size);
  put(out, bytes.data(), bytes.size());
}

std::span<const std::byte> take(std::span<const std::byte>* rest, std::size_t size) {
  if (size > rest->size()) throw Error(ExitCode::protocol, "collected rollouts end too early");
  const std::span<const std::byte> taken = rest->first(size);
  *rest = rest->subspan(size);
  return taken;
}

std::span<const std::byte> take_sized(std::span<const std::byte>* rest) {
  std::uint64_t size = 0;
  std::memcpy(&size, take(rest, sizeof size).data(), sizeof size);
  return take(rest, size);
}

}  // namespace

std::vector<std::byte> pack_collected(std::span<const Collected> list) {
  std::vector<std::byte> bytes;
  for (const Collected& one : list) {
    put(&bytes, &one.facts, sizeof one.facts);
    put_sized(&bytes, std::as_bytes(std::span<const std::uint8_t>(one.dropped)));
    put_sized(&bytes, pack(one.experiences));
    put_sized(&bytes, pack(one.parked));
    put_sized(&bytes, std::as_bytes(std::span<const std::int64_t>(one.deferred)));
  }
  return bytes;
}

std::vector<Collected> unpack_collected(std::span<const std::byte> bytes) {
  std::vector<Collected> list;
  while (!bytes.empty()) {
    Collected& one = list.emplace_back();
    std::memcpy(&one.facts, take(&bytes, sizeof one.facts).data(), sizeof one.facts);
    const std::span<const std::byte> dropped = take_sized(&bytes);
    one.dropped.resize(dropped.size());
    if (!dropped.empty()) std::memcpy(one.dropped.data(), dropped.data(), dropped.size());
    const std::span<const std::byte> experiences = take_sized(&bytes);
    one.experiences = unpack(experiences.data(), experiences.size());
    const std::span<const std::byte> parked = take_sized(&bytes);
    one.parked = unpack(parked.data(), parked.size());
    const std::span<const std::byte> deferred = take_sized(&bytes);
    one.deferred.resize(deferred.size() / sizeof(std::int64_t));
    if (!deferred.empty())
      std::memcpy(one.deferred.data(), deferred.data(), one.deferred.size() * sizeof(std::int64_t));
    if (one.dropped.size() != one.experiences.size())
      throw Error(ExitCode::protocol, "collected rollouts do not fit what is said of them");
  }
  return list;
}

std::vector<std::pair<std::size_t, std::size_t>> groups_of(std::span<const Experience> experiences) {
  std::vector<std::pair<std::size_t, std::size_t>> groups;
  for (std::size_t i = 0; i < experiences.size(); ++i) {
    if (i == 0 || experiences[i].rollout.group != experiences[i - 1].rollout.group) groups.push_back({i, i});
    groups.back().second = i + 1;
  }
  return groups;
}

}  // namespace maxplus
