#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

#include "base/diagnostics.h"
#include "base/result.h"
#include "os/ptrace.h"
#include "v8/process_view.h"

namespace nodescope {

struct ThreadStack {
  pid_t tid = 0;
  Address stack_pointer;
  v8::Stack stack;
};

// The stacks of all threads at one moment.
struct StoppedStacks {
  std::vector<ThreadStack> threads;
  std::vector<pid_t> not_stopped;  // in uninterruptible sleep
  std::uint64_t stopped_ns = 0;
};

// Stops the process, reads its stacks and lets it go on: names of native code, lines and files are looked up
// afterwards.  One that is dead is read as it died.  kLimit: it had to go on before all was read.
Result<StoppedStacks> read_stopped_stacks(v8::ProcessView& view, Diagnostics& diagnostics,
                                          const StopOptions& options = {});

}  // namespace nodescope
