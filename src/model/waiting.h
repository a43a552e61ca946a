#pragma once

#include <string_view>

#include "model/profile.h"

namespace nodescope {

// Events whose samples are times in which threads waited, alone or beside those in which they ran.
inline constexpr std::string_view kOffCpuEvent = "off-cpu";
inline constexpr std::string_view kWallClockEvent = "wall-clock";

// Whether what views show first has such times: their sum says nothing about the use of a CPU.
inline bool counts_waiting(const Profile& profile) {
  if (profile.events().empty()) return false;
  const std::string_view name = profile.text(profile.events().front().name);
  return name == kOffCpuEvent || name == kWallClockEvent;
}

}  // namespace nodescope
