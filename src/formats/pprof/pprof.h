#pragma once

#include "formats/format.h"

namespace nodescope {

// pprof's profile.proto, gzipped when written; see docs/formats/pprof.md.
extern const Format kPprofFormat;

namespace pprof {

Result<Profile> read(ByteSource& source, const ReadOptions& options);
Result<void> write(const Profile& profile, const WriteOptions& options, ByteSink& sink);
// The message itself, not compressed.
Result<void> write_message(const Profile& profile, ByteSink& sink);

}  // namespace pprof

}  // namespace nodescope
