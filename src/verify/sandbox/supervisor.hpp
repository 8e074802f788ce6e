#pragma once
// The keeper of one sandbox: a process that makes it, starts programs in it one after the other, and leaves nothing.

#include <sys/types.h>

#include <string>

namespace maxplus {

// Serves the session until its other end is gone; runs in a process of its own, forked by the broker. `scratch`: where
// folders on disk may be made.
//
// Messages: {"policy"} [the program's text] -> {"ready"} or {"failure"}; {"argument"} or {"probe"} [input, output,
// errors] -> {"end", "code", "cpu_ms", "over"}; {"stop"} ends the program that runs;
// {"text"} [another program's text] -> {"ready"} or {"failure"}.
[[noreturn]] void supervise(int session, const std::string& scratch);

// Kills every process that descends from this one, a subreaper, and reaps them all.
void end_descendants();

}  // namespace maxplus
