#pragma once

#include <sys/types.h>

#include <cstdint>

#include "os/ptrace.h"

namespace nodescope {

// What the process that holds another one says on its channel: a StopReport, its threads, the tids of those
// that did not stop, and, when the process has gone on, a Resumed.
struct StopReport {
  enum class Outcome : std::uint32_t { kStopped, kSystemError, kTooManyThreads };

  Outcome outcome = Outcome::kStopped;
  std::int32_t error_number = 0;
  std::uint32_t stopped = 0;
  std::uint32_t not_stopped = 0;
};

// What the helper needs to know of the process that asked for the stop.
struct StopRequest {
  pid_t pid = 0;
  StopOptions options;
  int channel = -1;
  int asker = -1;         // a pidfd: readable when the asker has ended
  int asker_status = -1;  // its /proc/PID/stat
};

// The whole life of the helper, in a child process that was just forked.
[[noreturn]] void run_stop_helper(const StopRequest& request);

}  // namespace nodescope
