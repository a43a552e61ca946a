#pragma once

#include "formats/format.h"

namespace nodescope {

Result<Profile> read_speedscope(ByteSource& source, const ReadOptions& options);
Result<void> write_speedscope(const Profile& profile, const WriteOptions& options, ByteSink& sink);

}  // namespace nodescope
