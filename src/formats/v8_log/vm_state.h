#pragma once

#include <cstdint>
#include <optional>

#include "model/profile.h"

namespace nodescope::v8_log {

// What V8 itself was doing at a tick, as a frame between the JavaScript that made it do so and the native
// code in which it was; nothing while it ran other code.  `is_old`: of a V8 before 6.3.
std::optional<FrameId> frame_of_vm_state(Profile& profile, std::uint64_t state, bool is_old);

}  // namespace nodescope::v8_log
