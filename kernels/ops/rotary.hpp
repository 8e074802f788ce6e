#pragma once
// Rotary position embedding (Su et al., 2021), rotate-half form: within a head, element i < D/2 is paired with
// i + D/2 and turned by the angle position * frequency_i.

#include "device/stream.hpp"
#include "tensor/tensor_view.hpp"

namespace maxplus::ops {

enum class Turn { forward, backward };  // backward: by the negative angle, the adjoint

// qkv [T, (H + 2 G) * D] in place: the H query heads and G key heads are turned, values stay.
// cosine, sine [positions, D/2]; position [T] i32.
// out1 = fma(x1, cos, -(x2 sin)), out2 = fma(x2, cos, x1 sin) for Turn::forward.
void rotary(const Stream& stream, TensorView qkv, TensorView cosine, TensorView sine, TensorView position,
            std::int64_t heads, std::int64_t kv_heads, std::int64_t head_width, Turn turn);

}  // namespace maxplus::ops
