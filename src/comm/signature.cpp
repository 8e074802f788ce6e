#include "comm/signature.hpp"

namespace maxplus {

const char* name_of(Signature::Call call) {
  switch (call) {
    case Signature::Call::barrier: return "barrier";
    case Signature::Call::broadcast: return "broadcast";
    case Signature::Call::begin_broadcast: return "begin_broadcast";
    case Signature::Call::sum: return "sum";
    case Signature::Call::maximum: return "maximum";
    case Signature::Call::minimum: return "minimum";
    case Signature::Call::gather_all: return "gather_all";
    case Signature::Call::exchange: return "exchange";
    case Signature::Call::gather_all_in_place: return "gather_all_in_place";
    case Signature::Call::require_equal: return "require_equal";
    case Signature::Call::split: return "split";
  }
  return "?";
}

const char* name_of(Signature::Type type) {
  switch (type) {
    case Signature::Type::none: return "no data";
    case Signature::Type::byte: return "bytes";
    case Signature::Type::f64: return "f64";
    case Signature::Type::i64: return "i64";
  }
  return "?";
}

}  // namespace maxplus
