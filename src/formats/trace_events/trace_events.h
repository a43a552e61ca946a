#pragma once

#include "formats/format.h"

namespace nodescope {

// Chrome's trace events (`node --trace-event-categories v8,v8.cpu_profiler`, DevTools' performance panel,
// chrome://tracing): the CPU profiles in them, one thread each, and the collections as markers.  The array
// may be cut off, as the format allows.
extern const Format kTraceEventsFormat;

}  // namespace nodescope
