#pragma once

#include <atomic>
#include <cstdint>

namespace nodescope {

// Shared by the code that works and the code that shows: the worker counts, the terminal looks.
struct Progress {
  std::atomic<std::uint64_t> done_bytes = 0;
  std::atomic<std::uint64_t> total_bytes = 0;  // 0: not known
};

}  // namespace nodescope
