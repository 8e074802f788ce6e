#pragma once
// The recursive reader behind tree_of. Its parts stand in parser.cpp (operators and lists) and primary.cpp (what they
// connect).

#include <string_view>
#include <utility>
#include <vector>

#include "verify/math/limits.hpp"
#include "verify/math/tree.hpp"

namespace maxplus::math {

class Parser {
 public:
  explicit Parser(const std::vector<Token>& tokens) : token_(tokens) {}
  Node answer();

 private:
  // Counts the nesting of brackets, exponents and arguments.
  class Nesting {
   public:
    explicit Nesting(int& depth) : depth_(depth) {
      if (++depth_ > kMaxDepth) throw Unreadable();
    }
    ~Nesting() { --depth_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;

   private:
    int& depth_;
  };

  const Token& next(std::size_t ahead = 0) const { return token_[std::min(i_ + ahead, token_.size() - 1)]; }
  bool take(std::string_view sign);
  void expect(std::string_view sign);
  Node make(Node::Kind kind, std::vector<Node> children, std::string text);

  std::vector<Node> items(bool words_between);
  Node item();
  Node united();
  Node operand();
  Node sum();
  Node product();
  Node signed_factor();
  Node factor();
  Node postfix(Node base);
  Node exponent();
  bool starts_factor() const;
  bool takes_unit(const Node& node) const;
  std::string unit();

  Node primary();
  Node number();
  Node letter();
  Node command();
  Node function(std::string_view name);
  Node function_argument();
  Node square_root(bool bare);
  Node argument();  // of \frac, \sqrt, …: braces, or one digit or letter
  Node bracketed();
  Node matrix(std::string_view kind);
  std::string raw_group();
  bool starts_mixed_fraction() const;

  std::vector<Token> token_;
  std::size_t i_ = 0, nodes_ = 0;
  int depth_ = 0, inside_bars_ = 0;
};

}  // namespace maxplus::math
