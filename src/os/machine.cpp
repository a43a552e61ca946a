#include "os/machine.h"

#include <unistd.h>

#include <ctime>

namespace nodescope {

namespace {

constexpr std::uint64_t kSecondNs = 1'000'000'000;

}  // namespace

std::uint64_t uptime_ns() {
  timespec time{};
  ::clock_gettime(CLOCK_BOOTTIME, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * kSecondNs + static_cast<std::uint64_t>(time.tv_nsec);
}

std::uint64_t clock_tick_ns() {
  const long per_second = ::sysconf(_SC_CLK_TCK);
  return kSecondNs / static_cast<std::uint64_t>(per_second > 0 ? per_second : 100);
}

std::uint64_t page_bytes() {
  const long bytes = ::sysconf(_SC_PAGESIZE);
  return static_cast<std::uint64_t>(bytes > 0 ? bytes : 4096);
}

}  // namespace nodescope
