#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

#include "base/diagnostics.h"
#include "base/result.h"
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
  std::uint64_t stopped_ns = 0;
};

// Stops the process, reads its stacks and lets it go on: names of native code, lines and files are looked up
// afterwards.  One that is dead is read as it died.
Result<StoppedStacks> read_stopped_stacks(v8::ProcessView& view, Diagnostics& diagnostics);

}  // namespace nodescope
