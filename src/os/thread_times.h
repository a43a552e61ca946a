#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>

#include "os/file.h"

namespace nodescope {

// The scheduler's account of a thread, kept open because it is read very often.
class SchedulerAccount {
 public:
  SchedulerAccount(pid_t pid, pid_t tid);

  struct Times {
    std::uint64_t running_ns = 0;
    std::uint64_t runnable_ns = 0;  // ready, without a CPU
  };
  // Nothing when the thread has ended, or the kernel keeps no account (CONFIG_SCHED_INFO).
  std::optional<Times> read() const;

 private:
  FileDescriptor file_;
};

// From now on this thread wakes on time (timer slack of a microsecond) and, where the user may, before
// others.
void make_thread_prompt();

}  // namespace nodescope
