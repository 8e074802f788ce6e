#include "run/former_keys.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/strings.hpp"
#include "deck/keys.hpp"
#include "rl/algorithms/algorithm.hpp"

namespace maxplus {

namespace {

class NamedFields final : public KeyVisitor {
 public:
  explicit NamedFields(AlgorithmTable& table) { visit(table, *this); }
  void key(KeyField field, const KeyFacts& facts) override { fields_.emplace_back(facts.name, field); }
  const KeyField* find(const std::string& name) const {
    const auto found = std::find_if(fields_.begin(), fields_.end(), [&](const auto& one) { return one.first == name; });
    return found == fields_.end() ? nullptr : &found->second;
  }

 private:
  std::vector<std::pair<std::string, KeyField>> fields_;
};

bool is_set(const Deck& deck, const std::string& key) {
  const auto origin = deck.origins.find(key);
  return origin != deck.origins.end() && origin->second.starts_with("--set");
}

std::vector<Fault> faults_of_rule(const Deck& deck) {
  try {
    make_algorithm(deck.algorithm, deck.generation.max_new_tokens);
  } catch (const Error& error) {
    return error.faults();
  }
  return {};
}

// "[algorithm] KEY = VALUE has no meaning ...": the key.
std::optional<std::string> key_without_meaning(const std::string& found) {
  constexpr std::string_view kTable = "[algorithm] ";
  if (!found.starts_with(kTable) || found.find("has no meaning") == std::string::npos) return std::nullopt;
  return found.substr(kTable.size(), found.find(' ', kTable.size()) - kTable.size());
}

void leave_out_former_shape(Deck& deck) {
  if (!is_set(deck, "model.path")) return;
  const ModelTable none;
  ModelTable& model = deck.model;
  std::vector<std::string> left_out;
  const auto leave_out = [&](const char* name, auto& value, const auto& fresh) {
    const std::string key = std::string("model.") + name;
    if (!deck.origins.contains(key) || is_set(deck, key)) return;
    value = fresh;
    deck.origins.erase(key);
    left_out.emplace_back(name);
  };
  leave_out("family", model.family, none.family);
  leave_out("width", model.width, none.width);
  leave_out("layers", model.layers, none.layers);
  leave_out("heads", model.heads, none.heads);
  leave_out("kv_heads", model.kv_heads, none.kv_heads);
  leave_out("head_width", model.head_width, none.head_width);
  leave_out("ffn_width", model.ffn_width, none.ffn_width);
  leave_out("window", model.window, none.window);
  leave_out("norm_epsilon", model.norm_epsilon, none.norm_epsilon);
  leave_out("rotary_theta", model.rotary_theta, none.rotary_theta);
  leave_out("tie_embeddings", model.tie_embeddings, none.tie_embeddings);
  if (!left_out.empty())
    deck.notes.push_back(fmt::format("[model] {} of the deck are left out: path says them", join(left_out, ", ")));
}

void leave_out_keys_of_former_rule(Deck& deck) {
  if (!is_set(deck, "algorithm.name")) return;
  AlgorithmTable none;
  const NamedFields fields(deck.algorithm), defaults(none);
  for (const Fault& fault : faults_of_rule(deck)) {
    const std::optional<std::string> key = key_without_meaning(fault.found);
    if (!key || is_set(deck, "algorithm." + *key) || !deck.origins.contains("algorithm." + *key)) continue;
    const KeyField *field = fields.find(*key), *fresh = defaults.find(*key);
    if (field == nullptr || fresh == nullptr) continue;
    deck.notes.push_back(fmt::format("{}: {} is left out, for it {}", deck.where("algorithm." + *key), *key,
                                     fault.found.substr(fault.found.find("has no meaning"))));
    std::visit([&](auto* value) { *value = *std::get<std::decay_t<decltype(value)>>(*fresh); }, *field);
    deck.origins.erase("algorithm." + *key);
  }
}

}  // namespace

void leave_out_former_keys(Deck& deck) {
  leave_out_former_shape(deck);
  leave_out_keys_of_former_rule(deck);
}

}  // namespace maxplus
