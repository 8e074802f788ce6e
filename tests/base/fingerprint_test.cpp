#include "base/fingerprint.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace maxplus {
namespace {

// Of the published algorithm's own vectors: XXH3_128bits of no bytes with seed 0.
TEST(Fingerprint, OfNoBytesIsThePublishedOne) { EXPECT_EQ(fingerprint(""), "99aa06d3014798d86001c324468d497f"); }

TEST(Fingerprint, DoesNotDependOnHowTheBytesAreCut) {
  const std::string bytes(1000, 'x');
  Fingerprint pieces;
  for (std::size_t at = 0; at < bytes.size(); at += 7) {
    pieces.add(bytes.data() + at, std::min<std::size_t>(7, bytes.size() - at));
  }
  EXPECT_EQ(pieces.text(), fingerprint(bytes));
  EXPECT_NE(pieces.text(), fingerprint(bytes.substr(1)));
}

}  // namespace
}  // namespace maxplus
