#pragma once

#include "formats/format.h"

namespace nodescope {

// The Firefox Profiler's processed profile, for profiler.firefox.com.  Written only.
extern const Format kFirefoxFormat;

}  // namespace nodescope
