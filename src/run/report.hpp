#pragma once
// The report of one or more runs: a page that needs no network and no scripts, with its figures also as files.

#include <filesystem>
#include <vector>

namespace maxplus {

// Reads run folders (metrics.jsonl is needed, manifest.json, deck.toml and rollouts.jsonl are used where they exist)
// and writes out/index.html and out/<figure>.svg. With several runs each figure shows all of them. Throws
// Error(ExitCode::no_input) for a folder that is no run, Error(ExitCode::cannot_create) and Error(ExitCode::io).
void write_report(const std::vector<std::filesystem::path>& runs, const std::filesystem::path& out);

}  // namespace maxplus
