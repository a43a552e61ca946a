#pragma once

#include <sys/types.h>

#include "os/file.h"

namespace nodescope {

// One process, and none that has its pid later.
class ProcessHandle {
 public:
  explicit ProcessHandle(pid_t pid);

  pid_t pid() const { return pid_; }
  // With all its threads.
  bool has_ended() const;

 private:
  pid_t pid_;
  FileDescriptor fd_;
};

}  // namespace nodescope
