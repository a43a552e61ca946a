#pragma once

#include <CLI/CLI.hpp>

#include "app/commands/command.h"
#include "base/result.h"

namespace nodescope {

// The whole command line: every command with its options.  Help, man page and completion are derived from it.
class CommandLine {
 public:
  // `program` is what follows "--".
  explicit CommandLine(const std::vector<std::string>& program = {});

  CLI::App& app() { return app_; }
  Result<void> run() { return run_(); }

 private:
  CLI::App app_;
  Run run_;
};

}  // namespace nodescope
