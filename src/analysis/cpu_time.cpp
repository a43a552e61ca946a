#include "analysis/cpu_time.h"

namespace nodescope {

CpuTime::CpuTime(const Profile& profile, const Overview& overview)
    : profile_(profile), period_ns_(overview.rate_hz > 0 ? 1e9 / overview.rate_hz : 0) {
  for (const nodescope::Event& event : profile.events())
    by_event_.push_back({event.unit == Unit::kNanoseconds, event.unit == Unit::kBytes ? 0.0 : 1.0});
}

}  // namespace nodescope
