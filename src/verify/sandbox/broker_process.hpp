#pragma once
// The broker's side of the broker: two small single-threaded processes without MPI and without threads.

#include <sys/types.h>

namespace maxplus {

// Never returns. The guard starts the broker, starts it once more if it dies, and when our program ends, however it
// ends, kills all that is left and removes its folder.
[[noreturn]] void run_broker_guard(int control, pid_t program);

}  // namespace maxplus
