#pragma once
// xxh3-128 with seed 0 as 32 lower-case hex digits: how files, weights and inputs are told apart in what we write.

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

struct XXH3_state_s;

namespace maxplus {

std::string fingerprint(std::string_view bytes);

// Of bytes that come in pieces; how they are cut does not matter.
class Fingerprint {
 public:
  Fingerprint();
  void add(const void* data, std::size_t bytes);
  std::string text() const;

 private:
  struct Free {
    void operator()(XXH3_state_s* state) const;
  };
  std::unique_ptr<XXH3_state_s, Free> state_;
};

}  // namespace maxplus
