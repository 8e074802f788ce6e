#pragma once
// Places where a test may make this process die, stop, wait or fail: MAXPLUS_FAULT=phase:rank:count:action.
//
// `count` is the k-th arrival at the phase, from 1; `action` is kill, stop, error, or delay (one second; delay=0.2
// gives seconds). Compiled into every build, so that what is tested is what runs; without the variable a point costs
// one test.

namespace maxplus {

// Throws Error(ExitCode::io) for `error`, and Error(ExitCode::config) for a variable that cannot be read.
void fault_point(const char* phase, int rank);

}  // namespace maxplus
