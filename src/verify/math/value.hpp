#pragma once
// What an answer means: a number or formula, words, or an arrangement of such.

#include <optional>
#include <string>
#include <vector>

#include "verify/math/scalar.hpp"
#include "verify/math/tree.hpp"

namespace maxplus::math {

struct Value {
  enum class Kind { scalar, words, ordered, set, list, ratio, matrix, relation, unite, meet, without, numeral };
  // A number as it was written with a decimal point: what it may have been cut from.
  struct Cut {
    mpq_class value, last_place;  // last_place: one unit of the last digit written
    std::size_t digits = 0;       // significant
  };

  Kind kind = Kind::scalar;
  Scalar scalar;
  std::string text;  // words, brackets, the sign of a relation, a numeral
  std::string unit;
  std::optional<Cut> cut;
  std::vector<Value> item;
  int columns = 0;
  std::string label;  // of a relation whose left side only names the right one: x = 5, AB = 5, f(x) = x^2
};

using ValueKind = Value::Kind;

// Throws Unreadable.
class Evaluation {
 public:
  explicit Evaluation(ScalarField& field) : field_(field) {}
  Value answer(const Node& node);

 private:
  Value item(const Node& node);
  Value structure(const Node& node, Value::Kind kind);
  Value relation(const Node& node);
  Value scaled_matrix(const Node& node);
  Value words(const std::string& text);
  std::vector<Value> spliced(const std::vector<Node>& nodes);

  Scalar scalar(const Node& node);
  Scalar number(const Node& node);
  Scalar sum(const Node& node);
  Scalar product(const Node& node);
  Scalar function(const Node& node);
  Scalar finite(const Node& node);
  std::optional<Value::Cut> cut_of(const Node& node);

  ScalarField& field_;
  bool upper_sign_ = true;  // of plus-minus
};

bool has_infinity(const Scalar& a);
// A number: no symbols, no units.
bool is_number(const Scalar& a);

}  // namespace maxplus::math
