#pragma once

#include <string>

#include "base/byte_sink.h"
#include "base/diagnostics.h"
#include "base/result.h"
#include "capture/process_dump.h"

namespace nodescope {

struct StackDumpOptions {
  std::string title = "Process";  // what has the pid that follows
  bool json = false;
  ProcessDumpOptions dump = {};
};

// Writes the stacks of all threads of a process: that of `nodescope dump`.
Result<void> write_stack_dump(v8::ProcessView& view, const StackDumpOptions& options, Diagnostics diagnostics,
                              ByteSink& sink);

}  // namespace nodescope
