#pragma once

#include "formats/format.h"

namespace nodescope {

// What `perf record` writes, to a file or to a pipe.
extern const Format kPerfDataFormat;

}  // namespace nodescope
