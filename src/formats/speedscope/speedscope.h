#pragma once

#include "formats/format.h"

namespace nodescope {

// speedscope's own format.  Its profiles are our threads.  Written are sampled profiles, one for each thread
// and event, with shared.frames as a stable interface for programs: see docs/formats/json.md.
extern const Format kSpeedscopeFormat;

}  // namespace nodescope
