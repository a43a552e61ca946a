#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/result.h"
#include "os/file.h"

namespace nodescope {

// Which pages of a process are in memory (/proc/PID/pagemap).
class PageMap {
 public:
  static Result<PageMap> open(pid_t pid);

  // Of the pages from `begin` to `end`; nothing when the process has ended.
  std::optional<std::uint64_t> resident_bytes(std::uint64_t begin, std::uint64_t end) const;

  // The runs of pages among these that have content, in memory or swapped out; those of anonymous memory that
  // are left out read as zeros.  Nothing when the process has ended.
  using Run = std::pair<std::uint64_t, std::uint64_t>;  // addresses: from, to
  std::optional<std::vector<Run>> runs(std::uint64_t begin, std::uint64_t end) const;

  // Whether the process has pages of its own among these: of a file that is mapped privately those that it
  // has written to.  Nothing when the process has ended.
  std::optional<bool> has_own_pages(std::uint64_t begin, std::uint64_t end) const;

 private:
  // Visits the entry of each page.  False when the process has ended.
  template <typename Visit>
  bool for_each_page(std::uint64_t begin, std::uint64_t end, const Visit& visit) const;

  explicit PageMap(FileDescriptor fd) : fd_(std::move(fd)) {}

  FileDescriptor fd_;
};

}  // namespace nodescope
