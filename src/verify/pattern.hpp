#pragma once
// A regular expression (PCRE2) with bounds on its work: a pattern that runs away ends as `limit_hit`, never as a hang.

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace maxplus {

class Pattern {
 public:
  enum class Outcome { found, none, limit_hit };
  struct Match {
    Outcome outcome = Outcome::none;
    std::string text;   // the whole match
    std::string group;  // the first group; empty if it took no part
  };

  // Throws std::invalid_argument with PCRE2's message. UTF-8; an invalid byte of a subject counts as U+FFFD.
  explicit Pattern(const std::string& pattern);
  ~Pattern();
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;

  bool has_group() const { return groups_ > 0; }
  Match last_match(std::string_view subject) const;  // the last of the matches that do not overlap
  Outcome matches_whole(std::string_view subject) const;

 private:
  struct Compiled;
  std::unique_ptr<Compiled> compiled_;
  unsigned groups_ = 0;
};

}  // namespace maxplus
