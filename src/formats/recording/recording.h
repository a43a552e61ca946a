#pragma once

#include "formats/format.h"

namespace nodescope {

// nodescope's own recordings, `.nscope`; see docs/formats.md.
extern const Format kRecordingFormat;

// All that a recording says but for its samples: frames, facts, damage.  Many times as fast as all of it.
Result<Profile> read_recording_without_samples(std::span<const std::byte> file, std::string_view name);

}  // namespace nodescope
