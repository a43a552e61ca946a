#pragma once

#include "app/commands/command.h"

namespace nodescope {

// Adds `nodescope heap` with all its commands.
void add_heap_command(CLI::App& app, Run& run);

}  // namespace nodescope
