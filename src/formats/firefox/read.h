#pragma once

#include "formats/format.h"

namespace nodescope {

Result<Profile> read_firefox(ByteSource& source, const ReadOptions& options);

}  // namespace nodescope
