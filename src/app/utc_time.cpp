#include "app/utc_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace nodescope {

std::string utc_time_of_day(std::int64_t ns) {
  constexpr std::int64_t kMsPerDay = 86'400'000;
  const std::int64_t ms = std::max<std::int64_t>(ns, 0) / 1'000'000 % kMsPerDay;
  return fmt::format("{:02}:{:02}:{:02}.{:03}Z", ms / 3'600'000, ms / 60'000 % 60, ms / 1000 % 60, ms % 1000);
}

std::string utc_time(std::int64_t ns) {
  const std::chrono::nanoseconds since(std::max<std::int64_t>(ns, 0));
  const std::chrono::year_month_day day(std::chrono::floor<std::chrono::days>(std::chrono::sys_time(since)));
  return fmt::format("{:04}-{:02}-{:02}T{}", static_cast<int>(day.year()), static_cast<unsigned>(day.month()),
                     static_cast<unsigned>(day.day()), utc_time_of_day(ns));
}

}  // namespace nodescope
