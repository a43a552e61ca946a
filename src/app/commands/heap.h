#pragma once

#include <string>

#include "app/commands/command.h"
#include "base/result.h"
#include "model/heap_graph.h"

namespace nodescope {

// Adds `nodescope heap` with all its commands.
void add_heap_command(CLI::App& app, Run& run);

// Reads a heap snapshot, compressed or not, then tells on standard error what was lost or doubtful.
Result<HeapGraph> read_heap_input(const std::string& path);

}  // namespace nodescope
