#pragma once
// Reads a gold answer once and says of other texts whether they mean the same.

#include <memory>
#include <string>
#include <string_view>

#include "verify/math/compare.hpp"

namespace maxplus::math {

class Judge {
 public:
  Judge(std::string_view gold, const Tolerance& tolerance);
  bool understood() const { return understood_; }
  // Precondition: understood(). Never throws; what cannot be read is not accepted.
  bool accepts(std::string_view answer) const;

 private:
  std::string gold_;
  Tolerance tolerance_;
  bool understood_ = false;
};

}  // namespace maxplus::math
