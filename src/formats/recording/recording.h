#pragma once

#include "formats/format.h"

namespace nodescope {

// nodescope's own recordings, `.nscope`; see docs/formats.md.
extern const Format kRecordingFormat;

}  // namespace nodescope
