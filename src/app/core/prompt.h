#pragma once

#include "app/core/commands.h"
#include "app/core/session.h"
#include "base/result.h"

namespace CLI {
class App;
}

namespace nodescope {

// The options that every command takes, on the command line and at the prompt.
void add_core_options(CLI::App& app, CoreCommandOptions& options);

// Whether somebody is there to type commands, or a pipe brings them.
bool commands_are_given();

// Runs the commands that come through standard input, one a line, each with options of its own; what one of
// them prints goes to standard output.  The error, where commands came through a pipe and one of them failed,
// is the first one's.
Result<void> run_core_prompt(CoreSession& session, const CoreCommandOptions& defaults);

}  // namespace nodescope
