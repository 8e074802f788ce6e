#pragma once
// The worker processes of the verifier `command` and the one thread that keeps them.
//
// The keeper alone has them started, feeds, reads and ends them; askers wait for its answer, so that no write or read
// can block an asker. A worker that is stuck, dies, or speaks out of turn is killed and replaced; its item fails with
// the reason.

#include <cstdint>
#include <future>
#include <memory>
#include <string>

#include "verify/child_process.hpp"

namespace maxplus {

class CommandWorkers {
 public:
  struct Answer {
    std::string line;     // without its line feed
    std::string failure;  // why there is none; empty if there is
  };

  CommandWorkers(ChildProgram program, std::shared_ptr<const Broker> broker, std::int64_t workers, double timeout_s);
  ~CommandWorkers();  // all workers are gone when it returns
  CommandWorkers(const CommandWorkers&) = delete;
  CommandWorkers& operator=(const CommandWorkers&) = delete;

  // Hands the line to a free worker and waits for its answer; the deadline runs from the hand-over. Any number of
  // threads.
  Answer ask(std::string line);
  std::future<Answer> ask_later(std::string line);
  // Workers that were killed or found dead so far.
  std::int64_t replaced() const;

 private:
  struct State;
  static void keep(const std::shared_ptr<State>& state);
  std::shared_ptr<State> state_;
};

}  // namespace maxplus
