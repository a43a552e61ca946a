#pragma once

#include "formats/format.h"

namespace nodescope::v8_log {

Result<Profile> read_log(ByteSource& source, const ReadOptions& options);
Result<Profile> read_ticks(ByteSource& source, const ReadOptions& options);

}  // namespace nodescope::v8_log
