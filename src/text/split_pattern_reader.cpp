#include "text/split_pattern_reader.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "text/utf8.hpp"

namespace maxplus {

namespace {

constexpr int kMaxGroupDepth = 16;
constexpr std::size_t kMaxRepetitions = 1000;
constexpr std::size_t kMaxExpression = 4096;  // published ones have up to 500 bytes; bounds the depth of matching

// Both cases of a letter, as (?i:) means it: with the two signs that Unicode folds to ASCII letters.
void add_folded(char32_t code, CodeSet& set) {
  set.ranges.emplace_back(code, code);
  if (code >= 'a' && code <= 'z') set.ranges.emplace_back(code - 32, code - 32);
  if (code >= 'A' && code <= 'Z') set.ranges.emplace_back(code + 32, code + 32);
  if (code == 's' || code == 'S') set.ranges.emplace_back(U'\u017F', U'\u017F');
  if (code == 'k' || code == 'K') set.ranges.emplace_back(U'\u212A', U'\u212A');
}

}  // namespace

void SplitPatternReader::refuse(std::string_view what) const {
  throw Error(ExitCode::data,
              Fault{where_,
                    fmt::format("the splitting expression has {} at byte {}, which is not supported: {}", what, at_,
                                in_quotes(text_)),
                    "alternatives, sets, \\p{..}, repetitions, (?i: ), (?! )",
                    "a tokenizer of the families GPT-2, Llama 3, Qwen2, SmolLM, DeepSeek or GPT-4o"});
}

bool SplitPatternReader::take(std::string_view word) {
  if (text_.substr(at_, word.size()) != word) return false;
  at_ += word.size();
  return true;
}

std::int32_t SplitPatternReader::read() {
  if (first_invalid_utf8(text_)) refuse("invalid UTF-8");
  if (text_.size() > kMaxExpression) refuse("too many bytes");
  const std::vector<Sequence> alternatives = read_alternatives(false);
  if (!at_end()) refuse("an unmatched ')'");
  const std::int32_t accept = add({});
  return build(alternatives, accept);
}

std::vector<SplitPatternReader::Sequence> SplitPatternReader::read_alternatives(bool folding) {
  if (++depth_ > kMaxGroupDepth) refuse("too many groups inside each other");
  std::vector<Sequence> alternatives;
  do alternatives.push_back(read_sequence(folding));
  while (take("|"));
  --depth_;
  return alternatives;
}

SplitPatternReader::Sequence SplitPatternReader::read_sequence(bool folding) {
  Sequence sequence;
  while (!at_end() && text_[at_] != '|' && text_[at_] != ')') sequence.push_back(read_item(folding));
  return sequence;
}

SplitPatternReader::Item SplitPatternReader::read_item(bool folding) {
  if (text_[at_] == '(') return read_group(folding);
  Item item;
  if (take("[")) {
    item.set = read_set();
  } else if (std::string_view("?*+{}]^$.").find(text_[at_]) != std::string_view::npos) {
    refuse(in_quotes(text_.substr(at_, 1)));
  } else if (!add_class_escape(item.set)) {
    const char32_t code = read_character();
    if (folding && code >= 128) refuse("a character beyond ASCII where case is ignored");
    if (folding) {
      add_folded(code, item.set);
    } else {
      item.set.ranges.emplace_back(code, code);
    }
  }
  if (folding && item.set.categories != 0) refuse("a property where case is ignored");
  item.set.finish();
  read_repetition(item);
  return item;
}

SplitPatternReader::Item SplitPatternReader::read_group(bool folding) {
  Item item;
  item.kind = Item::Kind::group;
  if (take("(?=") || take("(?!")) {
    item.kind = Item::Kind::look;
    item.negative = text_[at_ - 1] == '!';
  } else if (take("(?i:")) {
    folding = true;
  } else if (!take("(?:") && !(take("(") && (at_end() || text_[at_] != '?'))) {
    refuse("a group of an unknown kind");
  }
  item.alternatives = read_alternatives(folding);
  if (!take(")")) refuse("a group without an end");
  if (item.kind == Item::Kind::group && take("?")) item.least = 0;
  if (!at_end() && std::string_view("?*+{").find(text_[at_]) != std::string_view::npos) refuse("a repeated group");
  return item;
}

CodeSet SplitPatternReader::read_set() {
  CodeSet set;
  set.negated = take("^");
  do {
    if (at_end()) refuse("a set without an end");
    read_set_element(set);
  } while (!take("]"));
  return set;
}

void SplitPatternReader::read_set_element(CodeSet& set) {
  if (text_[at_] == '[' || text_.substr(at_, 2) == "&&") refuse("a set inside a set");
  if (add_class_escape(set)) return;
  const char32_t first = read_character();
  char32_t last = first;
  if (text_.substr(at_, 1) == "-" && text_.substr(at_ + 1, 1) != "]") {
    ++at_;
    if (at_end()) refuse("a set without an end");
    last = read_character();
    if (last < first) refuse("a range that runs backwards");
  }
  set.ranges.emplace_back(first, last);
}

bool SplitPatternReader::add_class_escape(CodeSet& set) {
  if (take("\\s")) return set.spaces = true;
  if (take("\\S")) return set.not_spaces = true;
  if (take("\\d")) return (set.categories |= category_mask("Nd")) != 0;
  if (text_.substr(at_, 2) != "\\p" && text_.substr(at_, 2) != "\\P") return false;
  add_property(set);
  return true;
}

void SplitPatternReader::add_property(CodeSet& set) {
  const bool inverse = text_[at_ + 1] == 'P';
  const std::size_t end = text_.find('}', at_);
  if (text_.substr(at_ + 2, 1) != "{" || end == std::string_view::npos) refuse("a property without {..}");
  const std::string_view name = text_.substr(at_ + 3, end - at_ - 3);
  const std::uint32_t mask = category_mask(name);
  if (mask == 0) refuse(fmt::format("the property {}", in_quotes(name)));
  set.categories |= inverse ? ~mask : mask;
  at_ = end + 1;
}

char32_t SplitPatternReader::read_character() {
  if (text_[at_] != '\\') {
    const CodePoint point = code_point_at(text_, at_);
    at_ += point.length;
    return point.code;
  }
  if (text_.size() - at_ < 2) refuse("a lone backslash");
  const char kind = text_[at_ + 1];
  at_ += 2;
  switch (kind) {
    case 'r': return '\r';
    case 'n': return '\n';
    case 't': return '\t';
    case 'u': return read_hex(4);
    case 'x': return read_hex(text_.substr(at_, 1) == "{" ? 0 : 2);
    default: break;
  }
  at_ -= 2;
  const bool letter = (kind >= 'a' && kind <= 'z') || (kind >= 'A' && kind <= 'Z') || (kind >= '0' && kind <= '9');
  if (letter || (kind & 0x80) != 0) refuse(fmt::format("the escape {}", in_quotes(text_.substr(at_, 2))));
  at_ += 2;
  return static_cast<char32_t>(kind);
}

// digits 0: {..} stands there.
char32_t SplitPatternReader::read_hex(std::size_t digits) {
  std::string_view word = text_.substr(at_, digits);
  std::size_t taken = digits;
  if (digits == 0) {
    const std::size_t end = text_.find('}', at_);
    if (end == std::string_view::npos) refuse("a number without an end");
    word = text_.substr(at_ + 1, end - at_ - 1);
    taken = word.size() + 2;
  }
  char32_t value = 0;
  const std::string_view hex = "0123456789abcdef";
  for (const char c : word) {
    const std::size_t digit = hex.find(static_cast<char>(c >= 'A' && c <= 'F' ? c + 32 : c));
    if (digit == std::string_view::npos || value > 0xFFFF) refuse("a number that is not hexadecimal");
    value = value * 16 + static_cast<char32_t>(digit);
  }
  if (word.empty() || (digits != 0 && word.size() != digits) || value >= 0x110000) refuse("a number that is none");
  at_ += taken;
  return value;
}

std::size_t SplitPatternReader::read_count() {
  std::size_t value = 0, digits = 0;
  for (; !at_end() && text_[at_] >= '0' && text_[at_] <= '9' && digits < 5; ++at_, ++digits)
    value = value * 10 + static_cast<std::size_t>(text_[at_] - '0');
  if (digits == 0 || value > kMaxRepetitions) refuse("a repetition that is no number");
  return value;
}

void SplitPatternReader::read_repetition(Item& item) {
  if (take("?")) {
    item.least = 0;
  } else if (take("*")) {
    item.least = 0, item.most = SIZE_MAX;
  } else if (take("+")) {
    item.most = SIZE_MAX;
  } else if (take("{")) {
    item.least = item.most = read_count();
    if (take(",")) item.most = text_.substr(at_, 1) == "}" ? SIZE_MAX : read_count();
    if (!take("}") || item.most < item.least) refuse("a repetition that is no number");
  } else {
    return;
  }
  if (take("+")) {
    item.possessive = true;
  } else if (text_.substr(at_, 1) == "?") {
    refuse("a lazy repetition");
  }
}

std::int32_t SplitPatternReader::add(SplitPattern::Node node) {
  nodes_.push_back(std::move(node));
  return static_cast<std::int32_t>(nodes_.size()) - 1;
}

std::int32_t SplitPatternReader::build(const std::vector<Sequence>& alternatives, std::int32_t next) {
  SplitPattern::Node branch;
  branch.kind = SplitPattern::Node::Kind::branch;
  for (const Sequence& sequence : alternatives) {
    std::int32_t follows = next;
    for (std::size_t i = sequence.size(); i-- > 0;) follows = build(sequence[i], follows);
    branch.branches.push_back(follows);
  }
  return alternatives.size() == 1 ? branch.branches[0] : add(std::move(branch));
}

std::int32_t SplitPatternReader::build(const Item& item, std::int32_t next) {
  SplitPattern::Node node;
  if (item.kind == Item::Kind::set) {
    sets_.push_back(item.set);
    node.kind = SplitPattern::Node::Kind::set;
    node.set = static_cast<std::int32_t>(sets_.size()) - 1;
    node.least = item.least, node.most = item.most;
    node.possessive = item.possessive;
    node.next = next;
    return add(std::move(node));
  }
  if (item.kind == Item::Kind::look) {
    const std::int32_t accept = add({});
    node.kind = SplitPattern::Node::Kind::look;
    node.branches = {build(item.alternatives, accept)};
    node.negative = item.negative;
    node.next = next;
    return add(std::move(node));
  }
  const std::int32_t inside = build(item.alternatives, next);
  if (item.least == 1) return inside;
  node.kind = SplitPattern::Node::Kind::branch;
  node.branches = {inside, next};
  return add(std::move(node));
}

}  // namespace maxplus
