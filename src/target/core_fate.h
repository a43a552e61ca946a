#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "target/machine_check.h"

namespace nodescope {

// What decides whether a core of a process is kept when it dies.
struct CoreFate {
  std::string pattern = {};                 // /proc/sys/kernel/core_pattern
  std::optional<std::uint64_t> limit = {};  // of its size, in bytes; nothing: it could not be read
  std::string folder = {};                  // that the process works in
  bool in_container = false;

  bool operator==(const CoreFate&) const = default;
};

inline constexpr std::uint64_t kUnlimited = ~std::uint64_t{0};

CoreFate read_core_fate(pid_t pid);

// The soft limit in /proc/PID/limits.
std::optional<std::uint64_t> parse_core_limit(std::string_view limits);

// Whether, where, and what to do about it.
Check derive_core_check(const CoreFate& fate);

}  // namespace nodescope
