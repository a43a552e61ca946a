#pragma once

#include <string>

#include "model/profile.h"

namespace nodescope {

// Lines about the event loops, the collector, libuv's pool and waiting in a recording that measured them:
// "event loop: 3 stalls of 50 ms or more, longest 1.50 s: aggregate blocks node 4120 for 1.5 s, every 4.0 s."
// Empty for others.
std::string turns_summary(const Profile& profile);

}  // namespace nodescope
