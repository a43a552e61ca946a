#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "base/byte_sink.h"
#include "base/diagnostics.h"
#include "base/result.h"
#include "v8/process_view.h"

namespace nodescope {

struct StackDumpOptions {
  std::string title = "Process";  // what has the pid that follows
  bool json = false;
  bool arguments = false;            // receiver and arguments of each JavaScript function
  bool addresses = false;            // of these where they are objects
  std::optional<pid_t> thread = {};  // only this one
  StopOptions stop = {};
};

// Writes the stacks of all threads of a process: that of `nodescope dump`.
Result<void> write_stack_dump(v8::ProcessView& view, const StackDumpOptions& options, Diagnostics diagnostics,
                              ByteSink& sink);

}  // namespace nodescope
