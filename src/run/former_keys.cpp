// Values of the deck's file that --set has made meaningless go back to their defaults.
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

// "[algorithm] KEY = VALUE has no meaning ...", or no effect: the key.
std::optional<std::string> key_without_meaning(const std::string& found) {
  constexpr std::string_view kTable = "[algorithm] ";
  if (!found.starts_with(kTable) || found.find(" has no ") == std::string::npos) return std::nullopt;
  return found.substr(kTable.size(), found.find(' ', kTable.size()) - kTable.size());
}

void leave_out_former_shape(Deck& deck) {
  if (!is_set(deck, "model.path")) return;
  const ModelTable none;
  ModelTable& model = deck.model;
  std::vector<std::string> left_out;
  const auto forget = [&](const char* name, auto& value, const auto& fresh) {
    const std::string key = std::string("model.") + name;
    if (!deck.origins.contains(key) || is_set(deck, key)) return;
    value = fresh;
    deck.origins.erase(key);
    left_out.emplace_back(name);
  };
  forget("family", model.family, none.family);
  forget("width", model.width, none.width);
  forget("layers", model.layers, none.layers);
  forget("heads", model.heads, none.heads);
  forget("kv_heads", model.kv_heads, none.kv_heads);
  forget("head_width", model.head_width, none.head_width);
  forget("ffn_width", model.ffn_width, none.ffn_width);
  forget("window", model.window, none.window);
  forget("norm_epsilon", model.norm_epsilon, none.norm_epsilon);
  forget("rotary_theta", model.rotary_theta, none.rotary_theta);
  forget("tie_embeddings", model.tie_embeddings, none.tie_embeddings);
  if (!left_out.empty())
    deck.notes.push_back(fmt::format("[model] {} of the deck are left out: path says them", join(left_out, ", ")));
}

// Keys that only say how another one works go with it.
std::vector<std::string> with_its_followers(const std::string& key) {
  if (key == "kl") return {"kl", "kl_where", "kl_coefficient", "kl_target", "kl_horizon"};
  if (key == "importance_mask") return {"importance_mask", "importance_low", "importance_high"};
  if (key == "overlong_limit") return {"overlong_limit", "overlong_buffer", "overlong_penalty"};
  return {key};
}

void leave_out(Deck& deck, const std::string& key, const std::string& reason) {
  if (is_set(deck, "algorithm." + key) || !deck.origins.contains("algorithm." + key)) return;
  AlgorithmTable none;
  const NamedFields fields(deck.algorithm), defaults(none);
  const KeyField *field = fields.find(key), *fresh = defaults.find(key);
  if (field == nullptr || fresh == nullptr) return;
  deck.notes.push_back(fmt::format("{}: {} is left out, for it {}", deck.where("algorithm." + key), key, reason));
  std::visit([&](auto* value) { *value = *std::get<std::decay_t<decltype(value)>>(*fresh); }, *field);
  deck.origins.erase("algorithm." + key);
}

// Until none is left: without one key another may lose its meaning.
void leave_out_keys_of_former_rule(Deck& deck) {
  if (!is_set(deck, "algorithm.name")) return;
  std::size_t before = deck.notes.size() + 1;
  while (deck.notes.size() != before) {
    before = deck.notes.size();
    for (const Fault& fault : faults_of_rule(deck)) {
      const std::optional<std::string> key = key_without_meaning(fault.found);
      if (!key) continue;
      for (const std::string& one : with_its_followers(*key))
        leave_out(deck, one, fault.found.substr(fault.found.find("has no ")));
    }
  }
}

}  // namespace

void leave_out_former_keys(Deck& deck) {
  leave_out_former_shape(deck);
  leave_out_keys_of_former_rule(deck);
}

}  // namespace maxplus
