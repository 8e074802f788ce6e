#pragma once
// Networks beside the policy that a deck names by a path: critic, reference, reward model. Of the policy's tokens.

#include <string>

#include "deck/tables.hpp"
#include "run/model_source.hpp"

namespace maxplus {

// All throw Error(config) naming the key, Error(data) or Error(no_input) for the file.
OpenedModel open_critic(const Deck& deck, const OpenedModel& policy);
OpenedModel open_reference(const Deck& deck, const OpenedModel& policy);     // a language model
OpenedModel open_reward_model(const Deck& deck, const OpenedModel& policy);  // a classifier with one label

// WeightSet::hash of a network's weights, read from its file.
std::string weights_hash_of(const OpenedModel& model);

}  // namespace maxplus
