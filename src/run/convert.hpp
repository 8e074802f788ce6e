#pragma once
// `convert`: a model from one kind of file to another, with its tokenizer and chat template.

#include <filesystem>
#include <string>

#include "run/command_line.hpp"

namespace maxplus {

// The kind of `out` follows its name: "x.safetensors" (which then also carries configuration and tokenizer), "x.h5" (a
// checkpoint to start from), else a published folder, new or empty. Weights are f32 afterwards. They pass through one
// by one, but a checkpoint is written from memory. Returns what to print: what was written. Throws Error(no_input),
// Error(data), Error(cannot_create) where `out` is already there, Error(io). Needs no MPI.
std::string convert_model(const std::filesystem::path& in, const std::filesystem::path& out,
                          CommandLine::Network network, CommandLine::Output form);

}  // namespace maxplus
