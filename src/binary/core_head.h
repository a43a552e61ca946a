#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "binary/core_file.h"

namespace nodescope {

// What a core says before the memory itself.  Only of `segments` the contents are not looked at: of each,
// `dumped_bytes` follow the head, in this order and without gaps.
struct CoreHead {
  std::int32_t pid = 0;
  std::string_view name;
  std::string_view command_line;
  std::string_view auxiliary;  // as in /proc/PID/auxv
  std::span<const CoreThread> threads;
  std::span<const CoreMapping> mappings;
  std::span<const CoreSegment> segments;  // of whole pages
};

// The head of the core file of an x86-64 Linux process; its size is a multiple of a page.  kLimit: more
// segments than the format counts without tricks.
Result<std::string> write_core_head(const CoreHead& head);

}  // namespace nodescope
