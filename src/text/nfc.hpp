#pragma once
// Normalisation Form C of Unicode 16.0 (Unicode Standard Annex 15): canonical decomposition, order by combining class,
// canonical composition.

#include <string>
#include <string_view>

namespace maxplus {

// Precondition: valid UTF-8. Text below U+0300 comes back as it is.
std::string nfc(std::string_view text);

}  // namespace maxplus
