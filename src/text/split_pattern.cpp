// Matching; the expression is read in split_pattern_reader.cpp.
#include "text/split_pattern.hpp"

#include "text/split_pattern_reader.hpp"

namespace maxplus {

void CodeSet::finish() {
  ascii[0] = ascii[1] = 0;
  for (char32_t code = 0; code < 128; ++code) {
    if (contains_slowly(code)) ascii[code >> 6] |= std::uint64_t{1} << (code & 63);
  }
}

bool CodeSet::contains_slowly(char32_t code) const {
  const CodeClass kind = class_of(code);
  bool inside = (categories & kind.bit()) != 0 || (kind.is_space() ? spaces : not_spaces);
  for (std::size_t i = 0; !inside && i < ranges.size(); ++i)
    inside = code >= ranges[i].first && code <= ranges[i].second;
  return inside != negated;
}

SplitPattern::SplitPattern(std::string_view expression, const std::string& where) {
  SplitPatternReader reader(expression, where);
  start_ = reader.read();
  nodes_ = reader.take_nodes();
  sets_ = reader.take_sets();
  find_starts();
}

// Nodes are built from the end, so what follows a node stands before it in the list.
void SplitPattern::find_starts() {
  const auto unite = [](AsciiSet& a, const AsciiSet& b) { a.word[0] |= b.word[0], a.word[1] |= b.word[1]; };
  for (Node& node : nodes_) {
    const AsciiSet& next = nodes_[static_cast<std::size_t>(node.next)].starts;
    switch (node.kind) {
      case Node::Kind::accept: node.starts = {{UINT64_MAX, UINT64_MAX}}; break;
      case Node::Kind::look: node.starts = next; break;
      case Node::Kind::branch:
        for (const std::int32_t branch : node.branches)
          unite(node.starts, nodes_[static_cast<std::size_t>(branch)].starts);
        break;
      case Node::Kind::set: {
        const CodeSet& set = sets_[static_cast<std::size_t>(node.set)];
        node.starts = {{set.ascii[0], set.ascii[1]}};
        if (node.least == 0) unite(node.starts, next);
      }
    }
  }
}

std::size_t SplitPattern::run_set(const Node& node, std::string_view text, std::size_t at) const {
  const CodeSet& set = sets_[static_cast<std::size_t>(node.set)];
  std::size_t count = 0, end = at;
  while (count < node.most && end < text.size()) {
    const auto byte = static_cast<unsigned char>(text[end]);
    if (byte < 0x80) {
      if (((set.ascii[byte >> 6] >> (byte & 63)) & 1) == 0) break;
      ++end, ++count;
      continue;
    }
    const CodePoint point = code_point_at(text, end);
    if (!set.contains(point.code)) break;
    end += point.length;
    ++count;
  }
  if (count < node.least) return kNoMatch;
  if (nodes_[static_cast<std::size_t>(node.next)].kind == Node::Kind::accept) return end;
  for (;;) {
    const std::size_t result = run(node.next, text, end);
    if (result != kNoMatch || node.possessive || count == node.least) return result;
    end = code_point_before(text, end);
    --count;
  }
}

std::size_t SplitPattern::run(std::int32_t index, std::string_view text, std::size_t at) const {
  for (;;) {
    const Node& node = nodes_[static_cast<std::size_t>(index)];
    switch (node.kind) {
      case Node::Kind::accept: return at;
      case Node::Kind::set: return run_set(node, text, at);
      case Node::Kind::branch: {
        const auto byte = static_cast<unsigned char>(at < text.size() ? text[at] : '\xFF');
        for (const std::int32_t branch : node.branches) {
          if (byte < 0x80 && !nodes_[static_cast<std::size_t>(branch)].starts.contains(byte)) continue;
          const std::size_t result = run(branch, text, at);
          if (result != kNoMatch) return result;
        }
        return kNoMatch;
      }
      case Node::Kind::look:
        if ((run(node.branches[0], text, at) != kNoMatch) == node.negative) return kNoMatch;
        index = node.next;
    }
  }
}

std::optional<std::size_t> SplitPattern::match_at(std::string_view text, std::size_t begin) const {
  const std::size_t end = run(start_, text, begin);
  return end == kNoMatch ? std::nullopt : std::optional(end);
}

void split_words_by(const SplitPattern& pattern, SplitGaps gaps, std::string_view text, std::size_t begin,
                    std::size_t end, std::vector<std::pair<std::size_t, std::size_t>>& words) {
  const std::string_view part = text.substr(begin, end - begin);
  std::size_t gap = 0;
  for (std::size_t i = 0; i < part.size();) {
    const std::optional<std::size_t> stop = pattern.match_at(part, i);
    if (!stop || *stop == i) {  // an empty match cuts nothing that is worth a word
      i += code_point_at(part, i).length;
      continue;
    }
    if (gap < i && gaps == SplitGaps::keep) words.emplace_back(begin + gap, begin + i);
    words.emplace_back(begin + i, begin + *stop);
    gap = i = *stop;
  }
  if (gap < part.size() && gaps == SplitGaps::keep) words.emplace_back(begin + gap, begin + part.size());
}

}  // namespace maxplus
