#pragma once

#include "formats/format.h"

namespace nodescope {

// The text that `perf script` prints, in every shape that its versions and its -F options give it.
extern const Format kPerfScriptFormat;

}  // namespace nodescope
