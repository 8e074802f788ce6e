// Rotary embedding on the host: tokens are cut over the team.
#include "ops/rotary.hpp"

#include "kokkos/kernel_table.hpp"
#include "kokkos/region.hpp"
#include "kokkos/simd/rotary_table.hpp"
#include "kokkos/team.hpp"
#include "ops/checks.hpp"

namespace maxplus::ops {

void rotary(const Stream& stream, TensorView qkv, TensorView cosine, TensorView sine, TensorView position,
            std::int64_t heads, std::int64_t kv_heads, std::int64_t head_width, Turn turn) {
  const host::Region region("maxplus.rotary");
  const std::int64_t tokens = qkv.extent(0), row = (heads + 2 * kv_heads) * head_width, half = head_width / 2;
  const std::int64_t positions = cosine.extent(0);
  MAXPLUS_REQUIRE(head_width % 2 == 0, fmt::format("head width {} is odd", head_width));
  check_view("rotary qkv", qkv, DType::f32, {tokens, row});
  check_view("rotary cosine", cosine, DType::f32, {positions, half});
  check_view("rotary sine", sine, DType::f32, {positions, half});
  check_view("rotary position", position, DType::i32, {tokens});
  const std::int32_t* const p = position.as<std::int32_t>();
  for (std::int64_t t = 0; t < tokens; ++t) {
    MAXPLUS_REQUIRE(p[t] >= 0 && p[t] < positions,
                    fmt::format("token {} stands at position {}, the table has {} positions", t, p[t], positions));
  }
  const host::RotaryTable& table = MAXPLUS_TABLE(rotary_table);
  float* const x = qkv.as<float>();
  const float* const c = cosine.as<float>();
  const float* const s = sine.as<float>();
  const float direction = turn == Turn::forward ? 1.0f : -1.0f;
  host::for_each_part(stream, tokens, [&](std::int64_t t) {
    table.turn(x + t * row, c + p[t] * half, s + p[t] * half, heads + kv_heads, half, direction);
  });
}

}  // namespace maxplus::ops
