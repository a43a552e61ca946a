#pragma once

#include <cstdint>
#include <string>

namespace nodescope {

// Of nanoseconds since 1970.  "21:44:00.123Z", to find it in logs.
std::string utc_time_of_day(std::int64_t ns);

// "2026-11-18T21:44:00.123Z", as Date.toISOString writes it.
std::string utc_time(std::int64_t ns);

}  // namespace nodescope
