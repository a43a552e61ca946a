#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "model/profile.h"

namespace nodescope {

// What Node's event loop was doing when it called JavaScript.
enum class LoopPhase : std::uint8_t {
  kUnknown,
  kTimers,
  kPoll,
  kCheck,
  kClose,
  kMicrotasks,
  kStartup,
};

inline constexpr std::size_t kLoopPhaseCount = 7;

// "timers", "poll", "check", "close callbacks", "microtasks/next tick", "startup"; "native" where it is not
// known.
std::string_view to_string(LoopPhase phase);

// What a frame says about the event loop, by its name alone.
struct FrameRole {
  LoopPhase phase = LoopPhase::kUnknown;
  bool is_js = false;
  bool is_nameless_js = false;  // JavaScript of which it is not known whose
  bool is_call_stub = false;    // V8's code between a caller and the JavaScript that it calls
  bool is_loop = false;         // of libuv's loop itself
};

// By FrameId.
std::vector<FrameRole> derive_frame_roles(const Profile& profile);

}  // namespace nodescope
