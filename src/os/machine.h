#pragma once

#include <cstdint>
#include <optional>

namespace nodescope {

// Since the machine started, time asleep included: what /proc/PID/stat counts from.
std::uint64_t uptime_ns();

// The units of /proc/PID/stat.
std::uint64_t clock_tick_ns();
std::uint64_t page_bytes();

// Memory that programs may still take without making others swap; nothing where that is not known.
std::optional<std::uint64_t> available_memory_bytes();

}  // namespace nodescope
