#pragma once
// The text of the Python program that calls a judged function inside the sandbox and hands out what it returns.

namespace maxplus {

// Arguments: the judged file, the function's name. One line of standard input is a list of arguments as JSON, one line
// of output {"value": …} or {"error": name}. It knows nothing of what is expected: whatever a judged program does to it
// can only change the values it gives.
extern const char* const kPythonDriver;

}  // namespace maxplus
