#pragma once

#include <string_view>

#include "model/profile.h"

namespace nodescope {

// Events whose samples are times in which threads waited, alone or beside those in which they ran.
inline constexpr std::string_view kOffCpuEvent = "off-cpu";
inline constexpr std::string_view kWallClockEvent = "wall-clock";

// The innermost frame of a wait says what for, in brackets.  This one is an event loop that has nothing to
// do.
inline constexpr std::string_view kIdleWaitFrame = "[waits for events]";
inline constexpr std::string_view kReadyFrame = "[ready, without a CPU]";  // it could run
inline bool is_wait_frame(std::string_view function) {
  return function.starts_with("[waits") || function.starts_with("[sleeps") || function == kReadyFrame;
}

// Whether what views show first has such times: their sum says nothing about the use of a CPU.
inline bool counts_waiting(const Profile& profile) {
  if (profile.events().empty()) return false;
  const std::string_view name = profile.text(profile.events().front().name);
  return name == kOffCpuEvent || name == kWallClockEvent;
}

}  // namespace nodescope
