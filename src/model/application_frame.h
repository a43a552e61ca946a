#pragma once

#include <optional>
#include <string>

#include "model/profile.h"

namespace nodescope {

// The innermost function of the application or a package on a stack, else that of Node itself; nothing where
// there is no JavaScript.
std::optional<FrameId> application_frame(const Profile& profile, StackId stack);

// "buildRows /app/rows.js:12"; "(anonymous)" for a function without a name.
std::string frame_text(const Profile& profile, FrameId frame);

}  // namespace nodescope
