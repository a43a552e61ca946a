#pragma once

#include <sys/types.h>

#include <cstdint>

#include "base/result.h"
#include "os/output_file.h"

namespace nodescope {

struct CoreTaken {
  std::uint64_t stopped_ns = 0;
  std::uint64_t copied_bytes = 0;
  std::uint64_t unreadable_bytes = 0;  // zeros in the file
  std::uint64_t file_bytes = 0;        // holes included
  std::size_t threads = 0;
};

// Writes a core of a running process: all memory that it has written to, and of what it has mapped from files
// the headers, by which they are found again.  The process stands still only while its memory is copied into
// ours.  kLimit: there is not so much memory to spare.
Result<CoreTaken> take_core(pid_t pid, OutputFile& file);

}  // namespace nodescope
