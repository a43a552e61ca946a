#pragma once

#include <span>
#include <string>
#include <string_view>

#include "app/core/session.h"
#include "base/byte_sink.h"
#include "base/result.h"

namespace nodescope {

struct CoreCommandOptions {
  bool json = false;
  int depth = 1;
  bool all = false;  // nothing is cut
};

struct CoreCommand {
  std::string_view name;
  std::string_view aliases;   // of mdb_v8 and llnode, separated by spaces
  std::string_view argument;  // empty: none; in brackets: may be left out
  std::string_view help;
  Result<void> (*run)(CoreSession& session, std::span<const std::string> arguments,
                      const CoreCommandOptions& options, ByteSink& sink);
};

std::span<const CoreCommand> core_commands();

// `words`: the name of a command or an alias, and its arguments.  kUsage where there is none of that name.
Result<void> run_core_command(CoreSession& session, std::span<const std::string> words,
                              const CoreCommandOptions& options, ByteSink& sink);

}  // namespace nodescope
