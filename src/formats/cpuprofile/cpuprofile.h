#pragma once

#include "formats/format.h"

namespace nodescope {

// V8's CPU profile as `node --cpu-prof`, the inspector and DevTools write it: today's list of nodes and the
// older tree.  One thread, one event.
extern const Format kCpuProfileFormat;

}  // namespace nodescope
