#pragma once
// What a collective is, as ranks compare it before it starts.

#include <cstdint>

namespace maxplus {

// What every rank must agree on before a collective starts. Numbers only, so that it travels as three of them.
struct Signature {
  enum class Call : std::int64_t {
    barrier,
    broadcast,
    begin_broadcast,
    sum,
    maximum,
    minimum,
    gather_all,
    exchange,
    gather_all_in_place,
    require_equal,
    split
  };
  enum class Type : std::int64_t { none, byte, f64, i64 };
  Call call;
  std::int64_t bytes;  // 0 where ranks may differ
  Type type;
  std::int64_t detail;  // a root
};

const char* name_of(Signature::Call call);
const char* name_of(Signature::Type type);

}  // namespace maxplus
