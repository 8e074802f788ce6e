#include "data/counter_keys.hpp"

namespace maxplus {

CounterKeys read_counter_keys(KeyReader& keys) {
  CounterKeys k;
  k.problems = keys.integer("problems", 20000, 1, 1'000'000'000, "how many problems are trained on");
  k.held_out = keys.integer("held_out", 512, 1, 1'000'000, "how many problems are held out");
  k.problem_seed = static_cast<std::uint64_t>(keys.integer("problem_seed", 1, 0, INT64_MAX, "of the problems"));
  k.demonstrations = keys.integer("demonstrations", 20000, 1, 1'000'000'000, "how many there are");
  k.demonstration_seed =
      static_cast<std::uint64_t>(keys.integer("demonstration_seed", 1, 0, INT64_MAX, "of the demonstrations"));
  return k;
}

}  // namespace maxplus
