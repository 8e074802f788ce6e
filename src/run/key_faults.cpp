#include "run/key_faults.hpp"

#include <utility>

#include <fmt/format.h>

#include "rl/algorithms/algorithm.hpp"

namespace maxplus {

KeyFaults::KeyFaults(const Deck& deck, const std::string& key, std::string written, std::string off,
                     std::vector<Fault>* faults)
    : deck_(deck), where_(deck.where(key)), written_(std::move(written)), off_(std::move(off)), faults_(faults) {}

void KeyFaults::add(const std::string& found, std::string expected, std::string advice) const {
  faults_->push_back({where_, fmt::format("{} {}", written_, found), std::move(expected), std::move(advice)});
}

bool KeyFaults::nothing_is_drawn() const {
  if (!learns_from_answers(deck_.algorithm)) return false;
  add(fmt::format("with algorithm '{}', which learns from answers of a file", deck_.algorithm.name),
      fmt::format("{}: nothing is drawn", off_), off_);
  return true;
}

void KeyFaults::not_with_environment(const std::string& why) const {
  if (deck_.environment) add("is given together with [environment]: " + why, "one of them", off_);
}

void KeyFaults::not_with_resampling(const std::string& why) const {
  if (deck_.generation.zero_spread != "resample" && !wants_dynamic_sampling(deck_.algorithm)) return;
  add("is given together with zero_spread = \"resample\": " + why,
      "groups without spread that are kept, or dropped without others in their place", "zero_spread = \"drop\"");
}

}  // namespace maxplus
