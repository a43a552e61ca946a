#pragma once

#include "formats/format.h"

namespace nodescope {

// V8's sampling heap profile (`node --heap-prof`, DevTools): the bytes that every stack allocated and that
// were still alive at the end.  Written from the first event in bytes or, if there is none, from event 0;
// threads and times are not in the format.
extern const Format kHeapProfileFormat;

}  // namespace nodescope
