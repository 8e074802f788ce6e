#pragma once
// Whether two answers are the same.

#include "verify/math/value.hpp"

namespace maxplus::math {

struct Tolerance {
  std::size_t cut_digits = 9;  // significant digits from which a decimal may stand for what it was cut from; 0: never
  mpq_class relative = 0;      // of the gold number; 0: none
};

class Comparison {
 public:
  Comparison(ScalarField& field, Work& work, const Tolerance& tolerance)
      : field_(field), work_(work), tolerance_(tolerance) {}
  bool same(const Value& gold, const Value& answer);

 private:
  bool same_scalar(const Value& gold, const Value& answer);
  bool same_relation(const Value& gold, const Value& answer);
  bool same_collection(const Value& gold, const Value& answer);
  bool same_items(const std::vector<Value>& gold, const std::vector<Value>& answer);  // in order
  bool same_multiset(const std::vector<const Value*>& gold, const std::vector<const Value*>& answer);
  bool is_cut_from(const Value& cut, const Scalar& exact);
  std::vector<const Value*> distinct(const std::vector<const Value*>& items);
  std::optional<Value> as_interval(const Value& inequality);
  std::optional<Value> as_intervals(const Value& value);

  ScalarField& field_;
  Work& work_;
  const Tolerance& tolerance_;
};

}  // namespace maxplus::math
