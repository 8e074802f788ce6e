#pragma once
// Faults of one key that does not go together with others.

#include <string>
#include <vector>

#include "base/error.hpp"
#include "deck/tables.hpp"

namespace maxplus {

class KeyFaults {
 public:
  // `key`: "table.key"; `written`: as the messages begin, "[table] key = value"; `off`: what the key is without it.
  KeyFaults(const Deck& deck, const std::string& key, std::string written, std::string off, std::vector<Fault>* faults);

  void add(const std::string& found, std::string expected, std::string advice) const;
  // Adds a fault, and is true, where a file's answers are learned from.
  bool nothing_is_drawn() const;
  // `why` a deck with the other may not have the key.
  void not_with_environment(const std::string& why) const;
  void not_with_resampling(const std::string& why) const;

 private:
  const Deck& deck_;
  std::string where_, written_, off_;
  std::vector<Fault>* faults_;
};

}  // namespace maxplus
