#pragma once

#include "formats/format.h"

namespace nodescope {

// The log that `node --prof` writes ("isolate0x…-v8.log"): where code was and what ran at each tick.  Of all
// versions since Node 8.
extern const Format kV8LogFormat;

// What `node --prof-process --preprocess` makes of it: the same ticks as JSON, with names in place of
// addresses.
extern const Format kV8TicksFormat;

}  // namespace nodescope
