#pragma once

#include <cstdint>

namespace nodescope {

// Since the machine started, time asleep included: what /proc/PID/stat counts from.
std::uint64_t uptime_ns();

// The units of /proc/PID/stat.
std::uint64_t clock_tick_ns();
std::uint64_t page_bytes();

}  // namespace nodescope
