#pragma once
// From the command line to an exit code.

namespace maxplus {

// Everything the program does; prints errors and returns the exit code.
int run_program(int argc, char** argv);

}  // namespace maxplus
