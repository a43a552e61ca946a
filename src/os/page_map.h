#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "os/file.h"

namespace nodescope {

// Which pages of a process are in memory (/proc/PID/pagemap).
class PageMap {
 public:
  static Result<PageMap> open(pid_t pid);

  // Of the pages from `begin` to `end`; nothing when the process has ended.
  std::optional<std::uint64_t> resident_bytes(std::uint64_t begin, std::uint64_t end) const;

 private:
  explicit PageMap(FileDescriptor fd) : fd_(std::move(fd)) {}

  FileDescriptor fd_;
};

}  // namespace nodescope
