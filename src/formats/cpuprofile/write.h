#pragma once

#include "formats/format.h"

namespace nodescope {

// Writes event 0 as the one time line that the format has.  A sample starts at its time or, where the one
// before is not over yet, right behind it, and lasts for its weight; the time in between is "(idle)".  So
// weights are exact, and times too as long as the samples of all threads do not overlap.
Result<void> write_cpuprofile(const Profile& profile, const WriteOptions& options, ByteSink& sink);

}  // namespace nodescope
