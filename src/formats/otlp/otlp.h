#pragma once

#include "formats/format.h"

namespace nodescope {

// OpenTelemetry's profiles (v1development): ProfilesData or the request that exports it, as protobuf or as
// JSON.
extern const Format kOtlpFormat;

}  // namespace nodescope
