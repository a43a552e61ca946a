#pragma once

#include "formats/format.h"

namespace nodescope {

// What Hermes' sampling profiler writes (React Native): Chrome's trace format with "samples" and
// "stackFrames".
extern const Format kHermesFormat;

}  // namespace nodescope
