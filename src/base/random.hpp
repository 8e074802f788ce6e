#pragma once
// Random draws as functions of counters (Philox4x32-10; Salmon et al., 2011): no generator state exists, so the same
// numbers are drawn on any number of ranks, in any order, and after a resume.

#include <cmath>
#include <cstdint>

#include <Random123/philox.h>

namespace maxplus {

// Each purpose owns a stream. A number, once given, is never reused for another meaning.
enum class Purpose : std::uint32_t {
  sampling = 1,         // counters: rollout id, token index
  initial_weights = 2,  // counters: hash of the parameter's name, element
  problem_order = 3,    // counters: epoch, position
  task = 4,             // built-in tasks: problem number, draw
  demonstration = 5,    // warm-start demonstrations: demonstration number, draw
  random_reward = 6,    // the verifier `random`: rollout id, 0
  evaluation = 7,       // sampled evaluation: rollout id, token index
  warm_start_order = 8,
  forced_length = 9,  // benchmarks: rollout id, draw
  test = 1000,
};

struct RandomBlock {
  std::uint32_t word[4];
};

inline RandomBlock random_block(std::uint64_t seed, Purpose purpose, std::uint64_t first, std::uint64_t second) {
  const r123::Philox4x32::ctr_type counter = {
      {static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(first >> 32), static_cast<std::uint32_t>(second),
       static_cast<std::uint32_t>(second >> 32)}};
  const r123::Philox4x32::key_type key = {
      {static_cast<std::uint32_t>(seed) ^ (static_cast<std::uint32_t>(purpose) << 20),
       static_cast<std::uint32_t>(seed >> 32) + static_cast<std::uint32_t>(purpose)}};
  const auto r = r123::Philox4x32()(counter, key);
  return {{r[0], r[1], r[2], r[3]}};
}

// In [0, 1), 24 bits.
inline float uniform(std::uint64_t seed, Purpose purpose, std::uint64_t first, std::uint64_t second) {
  return static_cast<float>(random_block(seed, purpose, first, second).word[0] >> 8) * 0x1.0p-24f;
}

// In [0, 1), 53 bits.
inline double uniform_double(std::uint64_t seed, Purpose purpose, std::uint64_t first, std::uint64_t second) {
  const RandomBlock b = random_block(seed, purpose, first, second);
  return static_cast<double>(((static_cast<std::uint64_t>(b.word[0]) << 32) | b.word[1]) >> 11) * 0x1.0p-53;
}

// An integer in [0, n), without bias that anyone could see (multiply and shift on 64 bits); n >= 1.
inline std::uint64_t uniform_below(std::uint64_t n, std::uint64_t seed, Purpose purpose, std::uint64_t first,
                                   std::uint64_t second) {
  const RandomBlock b = random_block(seed, purpose, first, second);
  const std::uint64_t x = (static_cast<std::uint64_t>(b.word[0]) << 32) | b.word[1];
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>((static_cast<Wide>(x) * n) >> 64);
}

}  // namespace maxplus
