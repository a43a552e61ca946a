#pragma once

#include <span>
#include <string>
#include <string_view>

#include "app/core/session.h"
#include "app/source_map_options.h"
#include "base/byte_sink.h"
#include "base/result.h"

namespace nodescope {

struct CoreCommandOptions {
  bool json = false;
  int depth = 1;
  bool all = false;     // nothing is cut
  bool shapes = false;  // objects of a class by their properties
  bool redact = false;  // of snapshots: what strings say is left out
  std::string output;   // the file; empty: standard output, of snapshots a name of ours
  SourceMapOptions maps = {};
};

struct CoreCommand {
  std::string_view name;
  std::string_view aliases;   // of mdb_v8 and llnode, separated by spaces
  std::string_view argument;  // empty: none; in brackets: may be left out
  std::string_view help;
  Result<void> (*run)(CoreSession& session, std::span<const std::string> arguments,
                      const CoreCommandOptions& options, ByteSink& sink);
  bool makes_file = false;  // where -o says, besides what it prints
  bool needs_v8 = true;     // reads JavaScript
};

std::span<const CoreCommand> core_commands();
// By its name or an alias; null: there is none.
const CoreCommand* find_core_command(std::string_view word);

// `words`: the name of a command or an alias, and its arguments.  kUsage where there is none of that name.
Result<void> run_core_command(CoreSession& session, std::span<const std::string> words,
                              const CoreCommandOptions& options);

}  // namespace nodescope
