#include "os/send_signal.h"

#include <fmt/format.h>
#include <signal.h>

#include <cerrno>

#include "os/file.h"

namespace nodescope {

Result<void> send_signal(pid_t pid, int number) {
  if (::kill(pid, number) != 0) return fail_errno(errno, fmt::format("sending a signal to process {}", pid));
  return {};
}

}  // namespace nodescope
