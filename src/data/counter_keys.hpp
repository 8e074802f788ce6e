#pragma once
// Keys of the tasks whose problems are drawn from counters: how many there are on each side, and of which seeds.

#include <cstdint>

#include "text/key_reader.hpp"

namespace maxplus {

struct CounterKeys {
  std::int64_t problems = 0, held_out = 0, demonstrations = 0;
  std::uint64_t problem_seed = 0, demonstration_seed = 0;
};

CounterKeys read_counter_keys(KeyReader& keys);

}  // namespace maxplus
