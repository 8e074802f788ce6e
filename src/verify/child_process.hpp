#pragma once
// A program of the user's, started as a child with pipes for its input and output.
//
// The child gets nothing of ours: a cleaned environment, no open files but its three, default signals, its own process
// group. It is killed by the kernel when the thread that started it ends. No copy of our memory is made (vfork), as MPI
// libraries demand.

#include <sys/types.h>

#include <string>
#include <vector>

namespace maxplus {

enum class ChildErrors { discard, inherit };  // what it writes to standard error

struct ChildProgram {
  std::vector<std::string> argument;     // [0] is the program, found already: find_program()
  std::vector<std::string> environment;  // "NAME=value"
  std::string folder;                    // empty: ours
  ChildErrors errors = ChildErrors::discard;
};

class ChildProcess {
 public:
  // Throws Error(ExitCode::os) if the system refuses. A program that cannot be executed ends with status 127.
  explicit ChildProcess(const ChildProgram& program);
  ~ChildProcess();  // stop()
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  int input() const { return input_; }    // we write here; does not block
  int output() const { return output_; }  // we read here; does not block
  pid_t id() const { return id_; }
  void close_input();
  bool has_ended();  // reaps it if so
  void stop();       // kills its process group and reaps it

 private:
  pid_t id_ = -1;
  int input_ = -1, output_ = -1;
};

// The file that a shell would start, seen from `folder`; empty if there is none or it may not be executed.
std::string find_program(const std::string& name, const std::string& folder);

}  // namespace maxplus
