#pragma once
// The commands: names, arguments and the words of their help. For command_line.cpp only.

#include <string>
#include <vector>

#include "run/command_line.hpp"

namespace maxplus {

struct CommandEntry {
  Command command;
  const char* name;
  const char* arguments;  // "DECK", "MODEL FILE", "RUN..."
  const char* summary;    // one line
  const char* lesson;     // what it reads, what it writes
  const char* example;
};

const std::vector<CommandEntry>& command_table();
std::string general_help();

}  // namespace maxplus
