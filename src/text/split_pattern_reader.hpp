#pragma once
// Reads the expression of a SplitPattern into its graph of nodes.

#include <string>
#include <string_view>
#include <vector>

#include "text/split_pattern.hpp"

namespace maxplus {

class SplitPatternReader {
 public:
  SplitPatternReader(std::string_view expression, std::string where) : text_(expression), where_(std::move(where)) {}

  std::int32_t read();  // the first node; throws Error(ExitCode::data)
  std::vector<SplitPattern::Node> take_nodes() { return std::move(nodes_); }
  std::vector<CodeSet> take_sets() { return std::move(sets_); }

 private:
  // An expression is read from left to right into a tree, and the graph is built from right to left, because a node
  // knows what follows it.
  struct Item;
  using Sequence = std::vector<Item>;
  struct Item {
    enum class Kind { set, group, look } kind = Kind::set;
    CodeSet set;
    std::size_t least = 1, most = 1;
    bool possessive = false, negative = false;
    std::vector<Sequence> alternatives;  // group, look
  };

  std::vector<Sequence> read_alternatives(bool folding);
  Sequence read_sequence(bool folding);
  Item read_item(bool folding);
  Item read_group(bool folding);
  CodeSet read_set();
  void read_set_element(CodeSet& set);
  bool add_class_escape(CodeSet& set);  // \s \S \d \p{..} \P{..}; false: something else stands there
  void add_property(CodeSet& set);
  char32_t read_character();
  char32_t read_hex(std::size_t digits);
  void read_repetition(Item& item);
  std::size_t read_count();

  std::int32_t build(const std::vector<Sequence>& alternatives, std::int32_t next);
  std::int32_t build(const Item& item, std::int32_t next);
  std::int32_t add(SplitPattern::Node node);

  bool at_end() const { return at_ == text_.size(); }
  bool take(std::string_view word);
  [[noreturn]] void refuse(std::string_view what) const;

  std::string_view text_;
  std::string where_;
  std::size_t at_ = 0;
  int depth_ = 0;
  std::vector<SplitPattern::Node> nodes_;
  std::vector<CodeSet> sets_;
};

}  // namespace maxplus
