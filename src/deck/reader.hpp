#pragma once
// From what was written (source.hpp) to a Deck: fills the listed keys and finds every fault.

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "deck/keys.hpp"
#include "deck/listing.hpp"
#include "deck/source.hpp"

namespace maxplus {

class DeckReader : public DeckVisitor, private KeyVisitor {
 public:
  // Paths of the file are relative to `folder`, those of --set to the working directory.
  DeckReader(const DeckSource& source, Deck& deck, std::filesystem::path folder);

  void table(const TableFacts& facts, const std::function<void(KeyVisitor&)>& keys,
             const ForeignKeys& foreign) override;
  bool present(const std::string& name, bool now) override;
  std::size_t entries(const std::string& name, std::size_t now) override;

  // In the order of the deck; a last one counts what is beyond kMostFaults.
  std::vector<Fault> take_faults();

 private:
  void key(KeyField field, const KeyFacts& facts) override;
  const DeckValue* find(const std::string& table);  // nullptr if it is not there, or no table (a fault)
  std::string full_name(const std::string& key) const { return table_.empty() ? key : table_ + "." + key; }
  std::string title() const;
  const std::filesystem::path& base(const DeckValue& value, PathKind kind) const;
  void add(const DeckValue& value, std::string found, std::string expected, std::string advice);
  void refuse_table(const std::string& name, const DeckValue& value);
  void read_rest(const DeckValue& table, const ForeignKeys& foreign);
  void read_foreign(const DeckMember& member, const ForeignKeys& foreign);
  void unknown(const DeckMember& member, const ForeignKeys& foreign);
  void unknown_table(const DeckMember& member);

  const DeckSource& source_;
  Deck& deck_;
  std::filesystem::path folder_, working_directory_;
  std::vector<KnownTable> known_;
  std::string table_;                   // being read
  const DeckValue* current_ = nullptr;  // likewise; nullptr: all defaults
  std::vector<std::pair<std::int64_t, Fault>> faults_;
  std::size_t omitted_ = 0;
};

}  // namespace maxplus
