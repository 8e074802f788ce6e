#include "run/reference_checks.hpp"

#include <fmt/format.h>

namespace maxplus {

void check_reference(const Deck& deck, std::vector<Fault>& faults) {
  if (!deck.reference) return;
  const ReferenceTable& reference = *deck.reference;
  // What is copied from the policy is stored in checkpoints, in full.
  if (reference.weights != "f32" && reference.path == "policy") {
    faults.push_back({deck.where("reference.weights"),
                      fmt::format("[reference] weights = \"{}\" with path = \"policy\"", reference.weights),
                      "path = a model, whose file holds it in full: a copy of the policy is kept in f32",
                      "convert the start of the run to a folder and name that, or weights = \"f32\""});
  }
  if (reference.refresh_every > 0 && reference.path != "policy") {
    faults.push_back({deck.where("reference.refresh_every"),
                      fmt::format("[reference] refresh_every = {} with a path of its own", reference.refresh_every),
                      "path = \"policy\": the policy is copied anew", "remove refresh_every, or path"});
  }
}

}  // namespace maxplus
