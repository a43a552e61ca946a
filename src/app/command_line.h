#pragma once

#include <CLI/CLI.hpp>

#include "app/commands/command.h"
#include "base/result.h"

namespace nodescope {

// The whole command line: every command with its options.  Help, man page and completion are derived from it.
class CommandLine {
 public:
  // `program` is what follows "--".
  explicit CommandLine(std::vector<std::string> program = {});
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  CLI::App& app() { return app_; }
  // kUsage, with the nearest one, unless there is a command of this name.
  Result<void> check_command(std::string_view name);
  Result<void> run() { return run_(); }
  // Of the program that was recorded, or of a limit that was exceeded; 0 where there is none.
  int exit_code() const { return program_.exit_code; }

 private:
  CLI::App app_;
  RecordedCommand program_;
  Run run_;
};

}  // namespace nodescope
