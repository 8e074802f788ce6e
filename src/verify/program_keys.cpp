#include "verify/program_keys.hpp"

#include <cstdlib>
#include <vector>

#include <fmt/format.h>

#include "text/utf8.hpp"

namespace maxplus {

namespace {

std::vector<std::string> cleaned_environment(const std::vector<std::string>& keep) {
  std::vector<std::string> environment = {"LANG=C.UTF-8"};
  std::vector<std::string> names = {"PATH", "HOME"};
  names.insert(names.end(), keep.begin(), keep.end());
  for (const std::string& name : names) {
    if (const char* value = std::getenv(name.c_str()); value != nullptr) environment.push_back(name + "=" + value);
  }
  return environment;
}

}  // namespace

std::optional<ChildProgram> read_child_program(KeyReader& keys, const std::string& folder) {
  ChildProgram program;
  program.argument = keys.texts("command", "the program and its arguments");
  const std::vector<std::string> keep = keys.texts("keep_environment", "names of variables that the program may see");
  const std::string errors =
      keys.choice("standard_error", "discard", {"discard", "inherit"}, "what becomes of the program's standard error");
  if (program.argument.empty() || program.argument[0].empty()) {
    keys.add_fault("command", "command is missing", "a list of texts", "command = [\"python3\", \"program.py\"]");
    return std::nullopt;
  }
  const std::string found = find_program(program.argument[0], folder);
  if (found.empty()) {
    keys.add_fault("command", fmt::format("command: {} cannot be started", in_quotes(program.argument[0])),
                   "a program in PATH, or a path to an executable file", "check its name and its permissions");
    return std::nullopt;
  }
  program.argument[0] = found;
  program.environment = cleaned_environment(keep);
  program.folder = folder;
  program.errors = errors == "inherit" ? ChildErrors::inherit : ChildErrors::discard;
  return program;
}

}  // namespace maxplus
