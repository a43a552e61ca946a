#pragma once

#include "app/commands/command.h"

namespace nodescope {

// The commands of `nodescope heap` that are about a running process.
void add_heap_take_command(CLI::App& heap, Run& run);
void add_heap_leak_command(CLI::App& heap, Run& run);
void add_heap_watch_command(CLI::App& heap, Run& run);

}  // namespace nodescope
