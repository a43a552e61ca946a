#pragma once

#include "formats/format.h"

namespace nodescope {

// The whole profile as JSON for other programs, and back: docs/formats/json.md says what is where.
extern const Format kProfileJsonFormat;

}  // namespace nodescope
