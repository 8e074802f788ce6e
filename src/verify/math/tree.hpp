#pragma once
// An answer as a tree, and the reader that makes it. No value is computed here.

#include <string>
#include <vector>

#include "verify/math/token.hpp"

namespace maxplus::math {

struct Node {
  enum class Kind {
    number,     // text as Token::number; repeating
    symbol,     // text
    words,      // text
    sum,        // children; text holds a sign for each: + - p (plus-minus) m (minus-plus)
    product,    // children; text holds * or / for each
    power,      // base, exponent
    function,   // text the name; argument, and what stands with it: sqrt(x, index), log(x, base), binom(n, k)
    factorial,  // n
    percent,    // n
    degrees,    // n
    numeral,    // text: 2516_8
    quantity,   // value; text: the unit
    ordered,    // items; text the two brackets
    set,        // items
    list,       // items
    ratio,      // items
    matrix,     // items by rows; columns
    relation,   // sides; text holds the signs between them, each with a blank behind
    unite,      // items of a union
    meet,       // items of an intersection
    without,    // A without B
    all_reals
  };
  Kind kind = Kind::number;
  std::string text, repeating;
  std::vector<Node> child;
  int columns = 0;
};

using NodeKind = Node::Kind;

// Throws Unreadable.
Node tree_of(const std::vector<Token>& tokens);

}  // namespace maxplus::math
