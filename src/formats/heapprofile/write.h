#pragma once

#include "formats/format.h"

namespace nodescope {

Result<void> write_heapprofile(const Profile& profile, const WriteOptions& options, ByteSink& sink);

}  // namespace nodescope
