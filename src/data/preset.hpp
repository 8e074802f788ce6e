#pragma once
// How the files of other trainers and collections are read: which of their fields are prompt, answer, id and verifier.
// A new one is an entry of the table in preset.cpp and a name in the deck's key `preset`.

#include <string>
#include <string_view>
#include <vector>

#include "text/json_line.hpp"

namespace maxplus {

// Where a line keeps what a problem is made of. Of several names the first counts that the line has. A name is a key,
// or the way to a nested one: "reward_model.ground_truth".
struct ProblemFields {
  std::vector<std::string> prompt = {"prompt"}, answer = {"answer"}, id = {"id"}, verifier = {"verifier"},
                           difficulty = {"difficulty"};
};

// The first of the named values that is not null, or a null that is there, or nullptr.
const Json* find_field(const Json& line, const std::vector<std::string>& names);
// For messages: 'input' or 'prompt'.
std::string names_of_field(const std::vector<std::string>& names);

struct Preset {
  std::string_view name;
  ProblemFields fields;
  std::string_view verifier;     // the judge of such files, where the deck names none; empty: it must name one
  void (*complete)(Json& line);  // writes what no field says; null: nothing
};

const std::vector<Preset>& presets();
const Preset* find_preset(std::string_view name);  // null: there is none of that name

}  // namespace maxplus
