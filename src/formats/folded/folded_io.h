#pragma once

#include "formats/format.h"

namespace nodescope {

bool recognise_folded(std::string_view head);
Result<Profile> read_folded(ByteSource& source, const ReadOptions& options);
Result<void> write_folded(const Profile& profile, const WriteOptions& options, ByteSink& sink);

}  // namespace nodescope
