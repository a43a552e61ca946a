#include "os/machine.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>
#include <memory>
#include <string_view>

#include "base/text.h"

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

std::optional<std::uint64_t> available_memory_bytes() {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen("/proc/meminfo", "re"), std::fclose);
  std::array<char, 256> line{};
  while (file != nullptr && std::fgets(line.data(), static_cast<int>(line.size()), file.get()) != nullptr) {
    constexpr std::string_view kKey = "MemAvailable:";
    std::string_view text(line.data());
    if (!text.starts_with(kKey)) continue;
    text.remove_prefix(std::min(text.size(), text.find_first_of("0123456789")));
    const auto kilobytes = parse_number<std::uint64_t>(text.substr(0, text.find(' ')));
    return kilobytes ? std::optional(*kilobytes << 10) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace nodescope
