#pragma once

#include <functional>
#include <string>

#include "base/byte_sink.h"
#include "base/diagnostics.h"
#include "base/result.h"
#include "capture/process_dump.h"
#include "model/profile.h"

namespace nodescope {

struct StackDumpOptions {
  std::string title = "Process";  // what has the pid that follows
  bool json = false;
  ProcessDumpOptions dump = {};
  // Leads the frames of a profile to their sources; empty: they stay those of the code that ran.
  std::function<Result<void>(Profile&)> lead_to_sources = {};
};

// Writes the stacks of all threads of a process: that of `nodescope dump`.
Result<void> write_stack_dump(v8::ProcessView& view, const StackDumpOptions& options, Diagnostics diagnostics,
                              ByteSink& sink);

}  // namespace nodescope
