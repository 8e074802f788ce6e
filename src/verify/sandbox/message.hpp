#pragma once
// Messages between judge, broker and supervisor: a JSON object and a few descriptors over a SOCK_SEQPACKET socket.
//
// Both ends are our own processes; a sandboxed program never holds such a socket.

#include <optional>
#include <span>
#include <vector>

#include <nlohmann/json.hpp>

#include "verify/sandbox/descriptor.hpp"

namespace maxplus {

struct Message {
  nlohmann::json body;
  std::vector<Descriptor> descriptor;
};

struct SocketPair {
  Descriptor ours, theirs;
};

// What a program had too much of, in the message of its end; empty: nothing.
inline constexpr const char* kOverFiles = "files";
inline constexpr const char* kOverThreads = "threads";

SocketPair make_socket_pair();  // close on exec; throws Error(ExitCode::os)

// False if the other end is gone or has not taken the message within a second.
bool send_message(int socket, const nlohmann::json& body, std::span<const int> descriptors);
// Blocks; nothing if the other end is gone or sends what is no message.
std::optional<Message> receive_message(int socket);

}  // namespace maxplus
