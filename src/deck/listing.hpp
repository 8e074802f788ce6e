#pragma once
// The names of all tables and keys, gathered once from the listing: for "did you mean" and "it belongs in".

#include <string>
#include <vector>

namespace maxplus {

struct KnownTable {
  std::string name;               // "", "run", "reward.part"
  std::vector<std::string> keys;  // in the order of the listing
};

std::vector<KnownTable> known_tables();
const KnownTable* find_table(const std::vector<KnownTable>& tables, const std::string& name);
// "reward.part[2]" -> "reward.part"
std::string without_index(const std::string& table);

}  // namespace maxplus
