// maxplus: start, read, run, stop. Everything else is in run/.
#include <string>
#include <vector>

#include "run/commands.hpp"

int main(int argc, char** argv) { return maxplus::run_program(argc, argv); }
