#include "os/process_handle.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/procfs.h"

namespace nodescope {

ProcessHandle::ProcessHandle(pid_t pid)
    : pid_(pid), fd_(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))) {}

bool ProcessHandle::has_ended() const {
  // It ended before we came, or the kernel (before 5.3) has no such descriptors.
  if (!fd_.is_open()) return !is_running(pid_);
  pollfd event{fd_.get(), POLLIN, 0};
  return ::poll(&event, 1, 0) > 0;
}

}  // namespace nodescope
