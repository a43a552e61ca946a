#pragma once

#include "app/commands/command.h"

namespace nodescope {

// `nodescope core take`.
void add_core_take_command(CLI::App& core, Run& run);

}  // namespace nodescope
