#pragma once

#include "formats/format.h"

namespace nodescope {

// What Sentry's SDKs send ("sample format", versions 1 and 2) and its @sentry/profiling-node makes of V8's
// profile.
extern const Format kSentryFormat;

}  // namespace nodescope
