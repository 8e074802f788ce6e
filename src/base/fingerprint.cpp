#include "base/fingerprint.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include "base/error.hpp"

namespace maxplus {

namespace {

std::string hex_digits(XXH128_hash_t hash) { return fmt::format("{:016x}{:016x}", hash.high64, hash.low64); }

}  // namespace

std::string fingerprint(std::string_view bytes) { return hex_digits(XXH3_128bits(bytes.data(), bytes.size())); }

void Fingerprint::Free::operator()(XXH3_state_s* state) const { XXH3_freeState(state); }

Fingerprint::Fingerprint() : state_(XXH3_createState()) {
  MAXPLUS_REQUIRE(state_ != nullptr, "memory for a hash state");
  XXH3_128bits_reset(state_.get());
}

void Fingerprint::add(const void* data, std::size_t bytes) { XXH3_128bits_update(state_.get(), data, bytes); }

std::string Fingerprint::text() const { return hex_digits(XXH3_128bits_digest(state_.get())); }

}  // namespace maxplus
