#pragma once
// A program of the user's, started as a child with pipes for its input and output.
//
// The child gets nothing of ours: a cleaned environment, no open files but its three, default signals, its own session.
// The broker starts it, so no copy of our memory is made, and whatever it leaves behind, in any group or session, ends
// with it or with us.

#include <memory>
#include <string>
#include <vector>

#include "verify/sandbox/descriptor.hpp"

namespace maxplus {

class Broker;
class Sandbox;

enum class ChildErrors { discard, inherit };  // what it writes to standard error

struct ChildProgram {
  std::vector<std::string> argument;     // [0] is the program, found already: find_program()
  std::vector<std::string> environment;  // "NAME=value"
  std::string folder;                    // empty: ours
  ChildErrors errors = ChildErrors::discard;
};

class ChildProcess {
 public:
  // Throws Error(ExitCode::os) if the system refuses.
  ChildProcess(const ChildProgram& program, const Broker& broker);
  ~ChildProcess();  // stop()
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  int input() const { return input_.number(); }    // we write here; does not block
  int output() const { return output_.number(); }  // we read here; does not block
  void close_input();
  bool has_ended();
  void stop();  // it and all that descends from it are gone when this returns

 private:
  std::unique_ptr<Sandbox> sandbox_;  // null: it has ended
  Descriptor input_, output_;
};

// The file that a shell would start, seen from `folder`; empty if there is none or it may not be executed.
std::string find_program(const std::string& name, const std::string& folder);

}  // namespace maxplus
