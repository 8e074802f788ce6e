#pragma once
// exp, log, sin and cos in double whose bits do not depend on the processor.
//
// The C library chooses its variant by the processor (with or without fused multiply-add), so its last bit may differ
// between machines. These use plain additions and multiplications only (contraction is off), good to about 1e-15.

namespace maxplus {

double exact_exp(double x);            // 0 below -745, infinity above 709.78
double exact_log(double x);            // x > 0; NaN below, -infinity at 0
double exact_pow(double x, double y);  // exact_exp(y * exact_log(x)), x > 0
double exact_sin(double x);            // |x| < 1e6
double exact_cos(double x);            // |x| < 1e6

}  // namespace maxplus
