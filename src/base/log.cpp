// The run's log on spdlog: a plain line on standard error, the same line with time and rank in the file.
#include "base/log.hpp"

#include <cstdio>
#include <string>

#include <fmt/format.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>

#include "base/error.hpp"
#include "base/strings.hpp"

namespace maxplus {

struct Log::Sinks {
  int rank = 0;
  std::shared_ptr<spdlog::logger> terminal, file;
  std::filesystem::path path;

  void open_file() {
    try {
      auto sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(path.string());
      file = std::make_shared<spdlog::logger>("file", std::move(sink));
    } catch (const spdlog::spdlog_ex& error) {
      throw Error(ExitCode::cannot_create, Fault{path.string(), "the log cannot be opened: " + one_line(error.what()),
                                                 "a folder that may be written to", "another folder with --out"});
    }
    file->set_pattern(fmt::format("%Y-%m-%dT%H:%M:%S.%e rank={} %l %v", rank));
    file->flush_on(spdlog::level::info);
    file->set_error_handler([](const std::string&) {});  // a full disk: the checkpoint's writer reports it
  }

  void write(spdlog::level::level_enum level, std::string_view text) {
    const std::string line = one_line(trim(text));
    switch (level) {
      case spdlog::level::warn: terminal->warn("warning: {}", line); break;
      case spdlog::level::err: terminal->error("rank {}: {}", rank, line); break;
      default: terminal->log(level, line);
    }
    if (file) file->log(level, line);
  }
};

Log::Log(int rank, Verbosity verbosity) : sinks_(std::make_unique<Sinks>()) {
  sinks_->rank = rank;
  sinks_->terminal = std::make_shared<spdlog::logger>("terminal", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  sinks_->terminal->set_pattern("maxplus: %v");
  sinks_->terminal->set_level(verbosity == Verbosity::quiet ? spdlog::level::warn : spdlog::level::info);
  sinks_->terminal->flush_on(spdlog::level::info);
  sinks_->terminal->set_error_handler([](const std::string&) {});
}

Log::~Log() = default;
Log::Log(Log&&) noexcept = default;
Log& Log::operator=(Log&&) noexcept = default;

void Log::open(const std::filesystem::path& file) {
  sinks_->path = file;
  if (sinks_->rank == 0) sinks_->open_file();
}

void Log::event(std::string_view line) {
  if (sinks_->rank == 0) sinks_->write(spdlog::level::info, line);
}

void Log::warning(std::string_view line) {
  if (sinks_->rank == 0) sinks_->write(spdlog::level::warn, line);
}

void Log::trouble(std::string_view line) {
  if (!sinks_->file && !sinks_->path.empty()) {
    try {
      sinks_->open_file();
    } catch (const Error&) {
      sinks_->path.clear();  // standard error still gets the line
    }
  }
  sinks_->write(spdlog::level::err, line);
}

void Log::flush() {
  sinks_->terminal->flush();
  if (sinks_->file) sinks_->file->flush();
}

}  // namespace maxplus
