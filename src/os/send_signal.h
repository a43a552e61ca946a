#pragma once

#include <sys/types.h>

#include "base/result.h"

namespace nodescope {

// Sends a signal to the process that has this pid now.
Result<void> send_signal(pid_t pid, int number);

}  // namespace nodescope
